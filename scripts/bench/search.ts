import { Client } from "pg";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";
import { FLEET, get, middleOf } from "./lists-large.ts";
import { started, type Target } from "./target.ts";

/** A search on a large fleet takes no longer. */
const MS = 10;
/** Three rounds stay below what a person may ask in a minute. */
const TIMES = 3;

/** Few, many and all devices, none, one word of two and one too short for the index. */
const texts = ["reception 99", "pc-1234", "pc-", "nobody's", "eption", "42"] as const;

/** The middle one of searches on a large fleet, each the middle of its times. */
export const search: readonly Bench[] = [bench("SQLite"), bench("Postgres")];

function bench(database: "SQLite" | "Postgres"): Bench {
  let server: Target;
  let cluster: PostgresCluster | undefined;
  return {
    name: `search: the middle search (${database}) ÷ ${MS} ms`,
    limit: { kind: "max", value: 1 },
    async start() {
      let url = "";
      if (database === "Postgres") {
        cluster = await startPostgres({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
        url = await createDatabase({ label: "bench", cluster: cluster.url });
      }
      server = await started("read-server", [url, FLEET]);
      if (url !== "") await analyze(url);
    },
    async run() {
      const times: number[] = [];
      for (const text of texts) {
        const ms = await middleOf(() => get(server, `/api/v1/search?q=${encodeURIComponent(text)}`), TIMES);
        process.stderr.write(`${ms.toFixed(1)} ms  search ${text}\n`);
        times.push(ms);
      }
      const measured = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
      return { measured, against: MS, unit: "ms" };
    },
    async stop() {
      server.process.kill("SIGTERM");
      await cluster?.stop();
    },
  };
}

/** As the database does by itself within a minute. */
async function analyze(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  await client.end();
}
