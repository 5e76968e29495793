import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

const DEVICES = "100000";
const GROUPS = "500";
/** A sweep of all groups of the largest organization. */
const SECONDS = 60;
/** As long as anything may hold the event loop. */
const HELD_MS = 50;

interface Swept {
  readonly seconds: number;
  readonly heldMs: number;
}

/** A sweep of 500 groups that hold their devices already; the first one, which writes them all, goes to stderr. */
export const groupSweep: readonly Bench[] = [bench("SQLite"), bench("Postgres")];

function bench(database: "SQLite" | "Postgres"): Bench {
  let server: Target & { readonly first: Swept };
  let cluster: PostgresCluster | undefined;
  return {
    name: `groups: a sweep of ${GROUPS} over ${DEVICES} devices (${database}) ÷ ${SECONDS} s`,
    limit: { kind: "max", value: 1 },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      server = (await started("group-server", [url, DEVICES, GROUPS])) as typeof server;
      tell("first", server.first);
    },
    async run() {
      const swept = await sweep(server);
      tell("again", swept);
      return { measured: swept.seconds, against: SECONDS, unit: "s" };
    },
    async stop() {
      server.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}

const tell = (which: string, { seconds, heldMs }: Swept) =>
  process.stderr.write(
    `${which}: ${seconds.toFixed(1)} s, event loop held ${heldMs.toFixed(0)} ms (at most ${HELD_MS})\n`,
  );

const sweep = ({ process: child }: Target): Promise<Swept> =>
  new Promise((resolve) => {
    child.stdout?.once("data", (line: Buffer) => resolve(JSON.parse(line.toString()) as Swept));
    child.kill("SIGUSR2");
  });
