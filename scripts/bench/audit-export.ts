import { request } from "node:http";
import { Client } from "pg";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

const FLEET = { organizations: 20, devices: 20, entries: 50_000 };
const EXPORTED = 10_000;
/** Below what a person may export in a minute. */
const TIMES = 3;
const newest = `select * from audit_logs order by timestamp desc, id desc limit ${EXPORTED}`;

/** Entries a second of an export as JSON ÷ of the same rows read from the database and written as lines of JSON. */
export const auditExport: readonly Bench[] = [bench("SQLite"), bench("Postgres")];

type Rows = () => Promise<object[]>;

function bench(database: "SQLite" | "Postgres"): Bench {
  let server: Target;
  let read: Rows;
  let close: () => Promise<void>;
  let cluster: PostgresCluster | undefined;
  return {
    name: `audit-export: entries a second (${database}) ÷ the same rows read and written as JSON`,
    limit: { kind: "min", value: 0.4 },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ settings: { shared_buffers: "512MB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      server = await started("read-server", [url, JSON.stringify(FLEET)]);
      [read, close] = url === "" ? rawSqlite(server.file as string) : await rawPostgres(url);
    },
    async run() {
      let [measured, against] = [0, 0];
      for (let time = 0; time < TIMES; time += 1) {
        measured = Math.max(measured, await rate(() => exported(server)));
        against = Math.max(against, await rate(() => written(read)));
      }
      return { measured, against, unit: "entries/s" };
    },
    async stop() {
      server.process.kill("SIGTERM");
      await close();
      await cluster?.stop();
    },
  };
}

async function rate(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return EXPORTED / ((performance.now() - startedAt) / 1_000);
}

const written = async (read: Rows): Promise<number> => {
  let bytes = 0;
  for (const row of await read()) bytes += Buffer.byteLength(`${JSON.stringify(row)}\n`);
  return bytes;
};

function rawSqlite(file: string): [Rows, () => Promise<void>] {
  const db = connectSqlite(file, { readonly: true });
  const statement = db.prepare(newest);
  return [async () => statement.all() as object[], async () => void db.close()];
}

async function rawPostgres(url: string): Promise<[Rows, () => Promise<void>]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  return [async () => (await client.query(newest)).rows, () => client.end()];
}

function exported({ url, token }: Target): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/audit-logs/export`, { method: "POST", headers }, (response) => {
      response.resume();
      response.on("error", reject);
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))));
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}
