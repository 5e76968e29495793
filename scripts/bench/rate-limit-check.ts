import { sql } from "kysely";
import { Client } from "pg";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { RateLimiter } from "#server/access/rate-limit";
import { openPostgres } from "#server/db/dialect/postgres";
import { systemClock } from "#server/platform/clock";
import type { Bench } from "./bench.ts";

const KEYS = 1_000;
const WORKERS = 8;
const ROUND_MS = 3_000;

let cluster: PostgresCluster | undefined;
let store: ReturnType<typeof openPostgres> | undefined;
let limiter: RateLimiter | undefined;

/** One sliding-window check compared to a one-row upsert counter, both through the same pool. */
export const rateLimitCheck: readonly Bench[] = [
  {
    name: "rate-limit check ÷ bare upsert (Postgres)",
    limit: { kind: "min", value: 0.75 },
    async start() {
      cluster = await startPostgres({ settings: { synchronous_commit: "off" } });
      const url = await createDatabase({ label: "bench", cluster: cluster.url });
      store = openPostgres({ url, poolSize: 4 * WORKERS });
      await store.migrate();
      const owner = new Client({ connectionString: url });
      await owner.connect();
      await owner.query(
        "create table bench_counter (key text primary key, n int not null) with (fillfactor = 50); grant all on bench_counter to rmm_app",
      );
      await owner.end();
      limiter = new RateLimiter(store, systemClock);
    },
    async run() {
      const db = (store as NonNullable<typeof store>).volatile;
      const against = await rate((key) =>
        sql`insert into bench_counter (key, n) values (${key}, 1) on conflict (key) do update set n = bench_counter.n + 1 returning n`.execute(
          db,
        ),
      );
      const limit = { name: "bench", max: 1_000_000_000, windowSeconds: 3_600 };
      const measured = await rate((key) => (limiter as RateLimiter).take(limit, key));
      return { measured, against, unit: "checks/s" };
    },
    async stop() {
      await store?.close();
      await cluster?.stop();
    },
  },
];

async function rate(check: (key: string) => Promise<unknown>): Promise<number> {
  const end = performance.now() + ROUND_MS;
  let done = 0;
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (performance.now() < end) {
        await check(`key-${Math.floor(Math.random() * KEYS)}`);
        done += 1;
      }
    }),
  );
  return done / (ROUND_MS / 1_000);
}
