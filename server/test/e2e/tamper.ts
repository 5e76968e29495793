import pg from "pg";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";
import type { TestServer } from "../harness.ts";

const walls = [
  ...["audit_outbox", "audit_logs", "audit_chain", "audit_anchors", "audit_prunes", "audit_unsigned_prunes"],
];

/**
 * Statements as the database's owner, behind the server's back: the protections that keep the log append-only are
 * removed before and restored after them, all in one transaction.
 */
export async function tamper(server: TestServer, ...statements: string[]): Promise<void> {
  const { file, url } = server.services.store;
  if (file !== undefined) return tamperSqlite(file, statements);
  const owner = new pg.Client({ connectionString: url as string });
  await owner.connect();
  try {
    await owner.query("begin");
    for (const table of walls) await owner.query(`alter table if exists public.${table} disable trigger user`);
    for (const statement of statements) await owner.query(statement);
    for (const table of walls) await owner.query(`alter table if exists public.${table} enable trigger user`);
    await owner.query("commit");
  } finally {
    await owner.end();
  }
}

function tamperSqlite(file: string, statements: string[]): void {
  const owner = openSqliteFile(file, { timeout: 30_000 });
  try {
    // One transaction, so that it waits for the server's own writes once.
    owner.exec("begin immediate");
    const triggers = owner
      .prepare("select name, sql from sqlite_schema where type = 'trigger' and tbl_name like 'audit_%'")
      .all() as { name: string; sql: string }[];
    for (const { name } of triggers) owner.exec(`drop trigger ${name}`);
    for (const statement of statements) owner.exec(statement);
    for (const { sql } of triggers) owner.exec(sql);
    owner.exec("commit");
  } finally {
    owner.close();
  }
}

/** What `rmm server …` needs to find this server's data. */
export const placeOf = ({ services }: TestServer): string[] => {
  const { dataDir } = services.config;
  const { file, url } = services.store;
  return ["--data-dir", dataDir, "--database-url", file === undefined ? (url as string) : `sqlite:${file}`];
};
