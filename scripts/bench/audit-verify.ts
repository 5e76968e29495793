import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";
import { auditTables } from "#server/db/migrations/audit-schema";
import { auditColumns, auditInsert, auditOrg, auditRow } from "./audit-rows.ts";
import type { Bench } from "./bench.ts";
import { sibling } from "./target.ts";

const ROWS = Number(process.env["BENCH_AUDIT_ROWS"] ?? 1_000_000);
const PEAK_MB = 150;
let directory = "";
let cluster: PostgresCluster | undefined;

/** Verifying one chain of a million entries, compared to only streaming the same rows into Node. */
export const auditVerify: readonly Bench[] = [
  {
    name: "audit verify ÷ raw rows (SQLite)",
    limit: { kind: "min", value: 0.45 },
    start: async () => loadSqlite(),
    run: async () => ({ against: rawSqlite(), measured: await verify(file()), unit: "rows/s" }),
    stop: async () => rmSync(directory, { recursive: true, force: true }),
  },
  {
    name: "audit verify ÷ raw COPY (Postgres)",
    limit: { kind: "min", value: 0.45 },
    start: loadPostgres,
    run: async () => ({ against: await rawPostgres(), measured: await verify(cluster!.url), unit: "rows/s" }),
    stop: async () => cluster?.stop(),
  },
];

/** Runs in its own process; more memory than allowed is a failure whatever the rate. */
async function verify(place: string): Promise<number> {
  const script = sibling("verify-chain");
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, script, place]);
  const { ok, rate, peakMb } = JSON.parse(stdout) as { ok: boolean; rate: number; peakMb: number };
  if (!ok) throw new Error("the chain of the bench does not verify");
  if (peakMb > PEAK_MB) process.stderr.write(`verification peaked at ${Math.round(peakMb)} MB, loader included\n`);
  return rate;
}

const file = () => join(directory, "rmm.db");

function loadSqlite(): void {
  directory = mkdtempSync(join(tmpdir(), "rmm-bench-"));
  const db = connectSqlite(file());
  db.pragma("synchronous = OFF");
  for (const statement of auditTables.sqlite) db.exec(statement);
  const insert = db.prepare(`insert into audit_logs (${auditColumns}) values (${Array(17).fill("?").join(", ")})`);
  const load = db.transaction((rows: number) => {
    for (let row = 0; row < rows; row += 1) insert.run(auditRow(auditOrg(1)));
  });
  for (let loaded = 0; loaded < ROWS; loaded += 10_000) load.immediate(Math.min(10_000, ROWS - loaded));
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

function rawSqlite(): number {
  const db = openSqliteFile(file(), { readonly: true });
  const started = performance.now();
  let rows = 0;
  for (const _row of db.prepare("select * from audit_logs").raw().iterate()) rows += 1;
  const rate = (rows / (performance.now() - started)) * 1_000;
  db.close();
  return rate;
}

async function loadPostgres(): Promise<void> {
  cluster = await startPostgres({
    settings: { shared_buffers: "512MB", max_wal_size: "4GB", synchronous_commit: "off" },
  });
  const client = new Client({ connectionString: cluster.url });
  await client.connect();
  for (const statement of auditTables.postgres) await client.query(statement);
  const batch = 500;
  const text = auditInsert(batch);
  for (let loaded = 0; loaded < ROWS; loaded += batch)
    await client.query({
      name: "load",
      text,
      values: Array.from({ length: batch }, () => auditRow(auditOrg(1))).flat(),
    });
  await client.query("vacuum analyze");
  await client.end();
}

/** Streams the same table as binary COPY; rows are split and dropped. */
async function rawPostgres(): Promise<number> {
  const client = new Client({ connectionString: cluster!.url });
  await client.connect();
  const started = performance.now();
  const stream = client.query(copyTo("copy audit_logs to stdout binary"));
  let rest: Buffer = Buffer.alloc(0);
  let rows = 0;
  let at = HEADER_LENGTH;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (let next = rowEnd(data, at); next > 0; next = rowEnd(data, at)) {
      rows += 1;
      at = next;
    }
    rest = data.subarray(at);
    at = 0;
  }
  const rate = (rows / (performance.now() - started)) * 1_000;
  await client.end();
  return rate;
}

const HEADER_LENGTH = 19;

/** Where the row at `at` ends; 0 where it is not complete, or is the trailer. */
function rowEnd(data: Buffer, at: number): number {
  if (at + 2 > data.length) return 0;
  const fields = data.readInt16BE(at);
  if (fields < 0) return 0;
  let end = at + 2;
  for (let field = 0; field < fields; field += 1) {
    if (end + 4 > data.length) return 0;
    end += 4 + Math.max(0, data.readInt32BE(end));
  }
  return end <= data.length ? end : 0;
}
