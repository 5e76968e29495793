import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import { auditTables } from "#server/db/migrations/audit-schema";
import { AUDIT_BATCH, auditColumns, auditInsert, auditOrg, auditRow } from "./audit-rows.ts";
import type { Bench } from "./bench.ts";

const ORGS = 100;
const ROWS = 40_000;
let cluster: PostgresCluster | undefined;

/** Durable appends of 100 rows a transaction, with the sealing trigger and without it. */
export const auditAppend: readonly Bench[] = [
  {
    name: "audit append, sealed ÷ unsealed (SQLite)",
    limit: { kind: "min", value: 0.45 },
    run: async () => ({ against: appendSqlite(false), measured: appendSqlite(true), unit: "rows/s" }),
  },
  ...[8, 1].map(
    (connections): Bench => ({
      name: `audit append, sealed ÷ unsealed (Postgres, ${connections} connections)`,
      limit: { kind: "min", value: 0.5 },
      async start() {
        cluster = await startPostgres({ durable: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
      },
      run: async () => ({
        against: await appendPostgres(false, connections),
        measured: await appendPostgres(true, connections),
        unit: "rows/s",
      }),
      stop: async () => cluster?.stop(),
    }),
  ),
];

function appendSqlite(sealed: boolean): number {
  const directory = mkdtempSync(join(tmpdir(), "rmm-bench-"));
  const db = connectSqlite(join(directory, "rmm.db"));
  try {
    for (const statement of auditTables.sqlite) db.exec(statement);
    if (!sealed) db.exec("drop trigger audit_logs_seal");
    const insert = db.prepare(`insert into audit_logs (${auditColumns}) values (${Array(17).fill("?").join(", ")})`);
    const append = db.transaction((rows: unknown[][]) => {
      for (const row of rows) insert.run(row);
    });
    const batches = batchesOf(1)[0]!;
    const started = performance.now();
    for (const batch of batches) append.immediate(batch);
    return (ROWS / (performance.now() - started)) * 1_000;
  } finally {
    db.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function appendPostgres(sealed: boolean, connections: number): Promise<number> {
  const admin = await connect(cluster!.url);
  await admin.query("drop database if exists bench with (force)");
  await admin.query("create database bench template template0");
  await admin.end();
  const url = new URL("/bench", cluster!.url).href;
  const owner = await connect(url);
  for (const statement of auditTables.postgres) await owner.query(statement);
  if (!sealed) await owner.query("drop trigger audit_logs_seal on audit_logs");
  const clients = await Promise.all(
    batchesOf(connections).map(async (batches) => ({ client: await connect(url), batches })),
  );
  for (const { client } of clients) await client.query("set role rmm_system");
  const text = auditInsert(AUDIT_BATCH);
  const started = performance.now();
  await Promise.all(
    clients.map(async ({ client, batches }) => {
      for (const batch of batches) await client.query({ name: "append", text, values: batch.flat() });
    }),
  );
  const rate = (ROWS / (performance.now() - started)) * 1_000;
  await Promise.all([owner, ...clients.map(({ client }) => client)].map((client) => client.end()));
  return rate;
}

/** The rows of each parallel client, one organization per batch. */
const batchesOf = (shares: number): (string | null)[][][][] =>
  Array.from({ length: shares }, (_, share) =>
    Array.from({ length: ROWS / shares / AUDIT_BATCH }, (_, index) => {
      const org = auditOrg((share * 13 + index) % ORGS);
      return Array.from({ length: AUDIT_BATCH }, () => auditRow(org));
    }),
  );

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
