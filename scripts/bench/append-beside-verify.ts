import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CamelCasePlugin, Kysely, PostgresDialect, SqliteDialect } from "kysely";
import pg from "pg";
import { type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { usualEntry } from "#fixtures/usual-entry";
import type { ChainRef } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { enqueueAudit } from "#server/audit/outbox";
import { claimPostgresWriter } from "#server/audit/postgres-writer";
import type { AuditTables } from "#server/audit/tables";
import { type VerifyOptions, verifyInWorker } from "#server/audit/verify-in-worker";
import { type AuditWriterOptions, auditWriter } from "#server/audit/writer";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import { auditTables } from "#server/db/migrations/audit-schema";
import { SharedRuns } from "#server/features/audit/audit-logs/shared-runs";
import { AUDIT_BATCH, auditColumns, auditInsert, auditOrg, auditRow } from "./audit-rows.ts";
import type { Bench } from "./bench.ts";

/** Chains that are verified, and their entries; the appends go to another. */
const CHAINS = 5;
const EACH = 20_000;
const APPENDED = 3_000;
const TURNS = 4;
const AT_ONCE = 500;
const APPENDING = auditOrg(90);

let isStarted = false;
let directory = "";
let cluster: PostgresCluster | undefined;

/** The audit writer while five people verify a chain each, over and over, compared to the writer alone; both durable. */
export const appendBesideVerify: readonly Bench[] = [
  {
    name: "audit append beside 5 verifications ÷ alone (SQLite)",
    limit: { kind: "min", value: 0.9 },
    start: loadSqlite,
    run: async () => {
      const database = { file: join(directory, "rmm.db") };
      return compared(database, appendSqlite);
    },
    stop: async () => rmSync(directory, { recursive: true, force: true }),
  },
  {
    name: "audit append beside 5 verifications ÷ alone (Postgres)",
    limit: { kind: "min", value: 0.9 },
    start: loadPostgres,
    run: async () => {
      const database = { url: cluster!.url };
      return compared(database, appendPostgres);
    },
    stop: async () => cluster?.stop(),
  },
];

/** In short turns: what else the machine does, and how much the log holds, is then the same for both. */
async function compared(database: VerifyOptions["database"], append: () => Promise<number>) {
  let [alone, accompanied] = [0, 0];
  for (let turn = 0; turn < TURNS; turn += 1) {
    alone += await append();
    accompanied += await beside(database, append);
  }
  const rate = (seconds: number) => (TURNS * APPENDED) / seconds;
  return { measured: rate(accompanied), against: rate(alone), unit: "rows/s" };
}

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
    const asked = { key: chain.id, partner: `partner ${index}`, until: new AbortController().signal, work: verify };
    while (!over) await (runs.join(asked) ?? setTimeout(20));
  });
  // Threads are started first: their start is no verification.
  await setTimeout(isStarted ? 200 : 1_500);
  isStarted = true;
  const seconds = await append();
  over = true;
  await Promise.all(asking);
  return seconds;
}

/** In how many seconds. Both as the server does: entries wait in the outbox, and its writer moves them. */
async function appended(db: Kysely<AuditTables>, options: AuditWriterOptions): Promise<number> {
  const entries = () => Array.from({ length: AT_ONCE }, () => auditEntry(usualEntry(APPENDING), { now: new Date() }));
  for (let waiting = 0; waiting < APPENDED; waiting += AT_ONCE)
    await db.transaction().execute((trx) => enqueueAudit(trx, entries()));
  const writer = auditWriter(db, { ...options, partnerOf: async () => null });
  const started = performance.now();
  await writer.drain();
  const seconds = (performance.now() - started) / 1_000;
  await writer.stop();
  return seconds;
}

async function loadSqlite(): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), "rmm-bench-"));
  const db = connectSqlite(join(directory, "rmm.db"));
  for (const statement of auditTables.sqlite) db.exec(statement);
  const insert = db.prepare(`insert into audit_logs (${auditColumns}) values (${Array(17).fill("?").join(", ")})`);
  for (let index = 0; index < CHAINS; index += 1)
    db.transaction(() => {
      for (let row = 0; row < EACH; row += 1) insert.run(auditRow(auditOrg(index)));
    }).immediate();
  db.close();
}

async function appendSqlite(): Promise<number> {
  const database = connectSqlite(join(directory, "rmm.db"));
  const db = new Kysely<AuditTables>({ dialect: new SqliteDialect({ database }), plugins: [new CamelCasePlugin()] });
  return appended(db, {}).finally(() => db.destroy());
}

async function loadPostgres(): Promise<void> {
  cluster = await startPostgres({ durable: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  for (const statement of auditTables.postgres) await client.query(statement);
  const text = auditInsert(AUDIT_BATCH);
  for (let index = 0; index < CHAINS; index += 1)
    for (let loaded = 0; loaded < EACH; loaded += AUDIT_BATCH) {
      const rows = Array.from({ length: AUDIT_BATCH }, () => auditRow(auditOrg(index)));
      await client.query({ name: "load", text, values: rows.flat() });
    }
  await client.end();
}

async function appendPostgres(): Promise<number> {
  const pool = new pg.Pool({ connectionString: cluster!.url, max: 4, options: "-c role=rmm_system" });
  const db = new Kysely<AuditTables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
  return appended(db, { claim: claimPostgresWriter }).finally(() => db.destroy());
}
