import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { load } from "./load-of.ts";
import type { FleetSize } from "./seed-fleet.ts";
import { started, type Target } from "./target.ts";

type DatabaseName = "SQLite" | "Postgres";

interface Read {
  name: string;
  database: DatabaseName;
  /** Lowest allowed share of what Express answers in the same time. */
  least: number;
  /** Default: one organization. */
  path?: string;
  fleet?: FleetSize;
}

const page: FleetSize = { organizations: 60, devices: 60, entries: 60 };
const lists = { organizations: "/orgs/organizations", devices: "/devices", "audit-logs": "/audit-logs/logs" };

/** Authenticated reads with the request log on, against Express answering a constant. */
export const authenticatedRead: readonly Bench[] = [
  bench({ name: "authenticated read", database: "SQLite", least: 0.6 }),
  bench({ name: "authenticated read", database: "Postgres", least: 0.35 }),
  ...Object.entries(lists).flatMap(([noun, path]) => [
    bench({ name: `list of ${noun}`, database: "SQLite", least: 0.25, path, fleet: page }),
    bench({ name: `list of ${noun}`, database: "Postgres", least: 0.15, path, fleet: page }),
  ]),
];

function bench({ name, database, least, path, fleet }: Read): Bench {
  let [server, hello]: [Target | undefined, Target | undefined] = [undefined, undefined];
  let cluster: PostgresCluster | undefined;
  return {
    name: `${name} (${database}) ÷ Express hello-JSON`,
    limit: { kind: "min", value: least },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ durable: true });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      const made = await started("read-server", [url, ...(fleet ? [JSON.stringify(fleet)] : [])]);
      server = path === undefined ? made : { ...made, path: `/api/v1${path}` };
      hello = await started("hello-server", []);
      // Neither side is measured while its code is still being compiled.
      for (const target of [hello, server]) await load(target);
    },
    async run() {
      const against = await load(hello as Target);
      const measured = await load(server as Target);
      return { measured, against, unit: "req/s" };
    },
    async stop() {
      for (const target of [server, hello]) target?.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}
