import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { type PostgresCluster, startPostgres } from "#fixtures/postgres";
import type { ChainRef } from "#server/audit/chain";
import { type VerifyOptions, verifyInWorker } from "#server/audit/verify-in-worker";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import { auditTables } from "#server/db/migrations/audit-schema";
import { SharedRuns } from "#server/features/audit/audit-logs/shared-runs";
import { AUDIT_BATCH, auditColumns, auditInsert, auditOrg, auditRow } from "./audit-rows.ts";
import type { Bench } from "./bench.ts";

/** Chains that are verified, and their entries; the appends go to another. */
const CHAINS = 5;
const EACH = 20_000;
const APPENDED = 20_000;
const APPENDING = auditOrg(90);

let directory = "";
let cluster: PostgresCluster | undefined;

/** Durable appends while five people verify a chain each, over and over, compared to appends alone. */
export const appendBesideVerify: readonly Bench[] = [
  {
    name: "audit append beside 5 verifications ÷ alone (SQLite)",
    limit: { kind: "min", value: 0.6 },
    start: loadSqlite,
    run: async () => {
      const database = { file: join(directory, "rmm.db") };
      return { against: await appendSqlite(), measured: await beside(database, appendSqlite), unit: "rows/s" };
    },
    stop: async () => rmSync(directory, { recursive: true, force: true }),
  },
  {
    name: "audit append beside 5 verifications ÷ alone (Postgres)",
    limit: { kind: "min", value: 0.5 },
    start: loadPostgres,
    run: async () => {
      const database = { url: cluster!.url };
      return { against: await appendPostgres(), measured: await beside(database, appendPostgres), unit: "rows/s" };
    },
    stop: async () => cluster?.stop(),
  },
];

/** As on the server: five ask, and as many are verified at once as a process allows. */
async function beside(database: VerifyOptions["database"], append: () => Promise<number>): Promise<number> {
  const runs = new SharedRuns<void>();
  let over = false;
  const asking = Array.from({ length: CHAINS }, async (_, index) => {
    const chain: ChainRef = { kind: "organization", id: auditOrg(index) };
    const verify = async () => {
      for await (const { ok } of verifyInWorker({ database }, [chain]))
        if (!ok) throw new Error("the chain of the bench does not verify");
    };
    while (!over) await (runs.join(chain.id, `partner ${index}`, verify) ?? setTimeout(20));
  });
  // Threads are started first: their start is no verification.
  await setTimeout(1_500);
  const rate = await append();
  over = true;
  await Promise.all(asking);
  return rate;
}

const batches = (orgId: string, rows: number) =>
  Array.from({ length: rows / AUDIT_BATCH }, () => Array.from({ length: AUDIT_BATCH }, () => auditRow(orgId)));

async function loadSqlite(): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), "rmm-bench-"));
  const db = connectSqlite(join(directory, "rmm.db"));
  for (const statement of auditTables.sqlite) db.exec(statement);
  db.close();
  for (let index = 0; index < CHAINS; index += 1) await appendSqlite(auditOrg(index), EACH);
}

async function appendSqlite(orgId = APPENDING, rows = APPENDED): Promise<number> {
  const db = connectSqlite(join(directory, "rmm.db"));
  const insert = db.prepare(`insert into audit_logs (${auditColumns}) values (${Array(17).fill("?").join(", ")})`);
  const append = db.transaction((batch: unknown[][]) => {
    for (const row of batch) insert.run(row);
  });
  const made = batches(orgId, rows);
  const started = performance.now();
  for (const batch of made) {
    append.immediate(batch);
    await setImmediate();
  }
  const rate = (rows / (performance.now() - started)) * 1_000;
  db.close();
  return rate;
}

async function loadPostgres(): Promise<void> {
  cluster = await startPostgres({ durable: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
  const client = new Client({ connectionString: cluster.url });
  await client.connect();
  for (const statement of auditTables.postgres) await client.query(statement);
  await client.end();
  for (let index = 0; index < CHAINS; index += 1) await appendPostgres(auditOrg(index), EACH);
}

async function appendPostgres(orgId = APPENDING, rows = APPENDED): Promise<number> {
  const client = new Client({ connectionString: cluster!.url });
  await client.connect();
  await client.query("set role rmm_system");
  const text = auditInsert(AUDIT_BATCH);
  const made = batches(orgId, rows);
  const started = performance.now();
  for (const batch of made) await client.query({ name: "append", text, values: batch.flat() });
  const rate = (rows / (performance.now() - started)) * 1_000;
  await client.end();
  return rate;
}
