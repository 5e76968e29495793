import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

type DatabaseName = "SQLite" | "Postgres";

const CONNECTIONS = 8;
const ROUND_MS = 3_000;

/** A change that tells of an event, against the same request where nothing changes and so nothing is told. */
export const eventMutation: readonly Bench[] = [bench("SQLite"), bench("Postgres")];

function bench(database: DatabaseName): Bench {
  let cluster: PostgresCluster | undefined;
  let server: Target | undefined;
  return {
    name: `mutation with an event ÷ without (${database})`,
    limit: { kind: "min", value: 0.9 },
    async start() {
      if (database === "Postgres") cluster = await startPostgres({ durable: true });
      const url = cluster ? [await createDatabase({ label: "bench", cluster: cluster.url })] : [];
      server = await started("read-server", url);
    },
    async run() {
      const against = await mutate(server as Target, () => "Same");
      const measured = await mutate(server as Target, (count) => `Other ${count}`);
      return { against, measured, unit: "mutations/s" };
    },
    async stop() {
      server?.process.kill();
      await cluster?.stop();
    },
  };
}

/** Renames the site as fast as the server takes it; mutations a second. */
async function mutate({ url, siteId, token }: Target, name: (count: number) => string): Promise<number> {
  const end = performance.now() + ROUND_MS;
  let done = 0;
  const work = async () => {
    while (performance.now() < end) {
      const { status } = await fetch(`${url}/api/v1/orgs/sites/${siteId}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ name: name(done) }),
      });
      if (status !== 200) throw new Error(`a mutation of the bench was answered ${status}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return done / (ROUND_MS / 1_000);
}
