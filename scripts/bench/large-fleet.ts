import { Client } from "pg";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import type { Shared } from "./bench.ts";
import { FLEET } from "./lists-large.ts";
import { started, type Target } from "./target.ts";

export interface LargeFleet extends Shared {
  /** The server as its next person sees it: each may ask sixty times a minute. */
  person(): Target;
  /** Reads every device once; no index tells which builds are known. */
  scan(): Promise<void>;
}

const SCAN = "select count(*) from devices where os_build is null";

/** A server, and a fleet whose devices have tags, custom values, software and a sample each. */
function largeFleet(database: "SQLite" | "Postgres"): LargeFleet {
  let server: Target;
  let turn = 0;
  let scan: () => Promise<void>;
  let close: () => Promise<void>;
  return {
    person: () => {
      const people = server.people as string[];
      turn += 1;
      return { ...server, token: people[turn % people.length] as string };
    },
    scan: () => scan(),
    async start() {
      const fleet = JSON.stringify({ ...(JSON.parse(FLEET) as object), entries: 0, facts: true });
      if (database === "Postgres") {
        const cluster = await startPostgres({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        const url = await createDatabase({ label: "bench", cluster: cluster.url });
        server = await started("read-server", [url, fleet]);
        [scan, close] = await onPostgres(url, cluster);
      } else {
        server = await started("read-server", ["", fleet]);
        [scan, close] = onSqlite(server.file as string);
      }
    },
    async stop() {
      server.process.kill("SIGTERM");
      await close();
    },
  };
}

export type FleetDatabase = keyof typeof largeFleets;
export const largeFleets = { SQLite: largeFleet("SQLite"), Postgres: largeFleet("Postgres") } as const;

function onSqlite(file: string): [() => Promise<void>, () => Promise<void>] {
  const db = connectSqlite(file, { readonly: true });
  return [async () => void db.prepare(SCAN).raw().all(), async () => void db.close()];
}

/** As the database does by itself within a minute, and only the owner of its tables may. */
export async function analyzed(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  return client;
}

async function onPostgres(url: string, cluster: PostgresCluster): Promise<[() => Promise<void>, () => Promise<void>]> {
  const client = await analyzed(url);
  const close = async () => {
    await client.end();
    await cluster.stop();
  };
  return [async () => void (await client.query(SCAN)), close];
}
