import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { openSqliteFile } from "./db/dialect/sqlite-library.ts";
import { examineDatabase, migrateDatabase, troubleOf } from "./doctor.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rmm-doctor-"));
let url: string | undefined;
afterAll(async () => {
  if (url !== undefined) await dropDatabase(url);
  rmSync(dataDir, { recursive: true, force: true });
});

describe("what the doctor sees", () => {
  it("on SQLite: which migrations are missing, then that none is", async () => {
    const place = { databaseUrl: `sqlite:${join(dataDir, "rmm.db")}`, dataDir };
    const before = await examineDatabase(place);
    expect(before).toMatchObject({
      dialect: "sqlite",
      walls: undefined,
      nowMs: undefined,
      migrations: { applied: 0, newer: [] },
    });
    const applied = await migrateDatabase(place);
    expect(applied).toEqual(before.migrations?.missing);
    expect((await examineDatabase(place)).migrations).toEqual({ applied: applied.length, missing: [], newer: [] });
    expect(await migrateDatabase(place)).toEqual([]);
  });

  it("on SQLite: that a trigger of the audit log was removed", async () => {
    const file = join(dataDir, "cut.db");
    const place = { databaseUrl: `sqlite:${file}`, dataDir };
    expect((await examineDatabase(place)).missingAuditTriggers).toBeUndefined();
    await migrateDatabase(place);
    expect((await examineDatabase(place)).missingAuditTriggers).toEqual([]);
    openSqliteFile(file).exec("drop trigger audit_logs_no_update").close();
    expect((await examineDatabase(place)).missingAuditTriggers).toEqual(["audit_logs_no_update"]);
  });

  it("on SQLite: that entries were taken out of the audit outbox", async () => {
    const file = join(dataDir, "emptied.db");
    const place = { databaseUrl: `sqlite:${file}`, dataDir };
    await migrateDatabase(place);
    const thief = openSqliteFile(file);
    thief.exec("insert into audit_outbox (audit_id, entry) values ('a', '[]'), ('b', '[]')");
    expect((await examineDatabase(place)).missingAuditEntries).toBe(0);
    expect(() => thief.exec("delete from audit_outbox")).toThrow(/leaves the outbox for the log alone/);
    thief
      .exec("drop trigger audit_outbox_no_delete; drop trigger audit_outbox_moved; delete from audit_outbox")
      .close();
    expect((await examineDatabase(place)).missingAuditEntries).toBe(2);
  });

  it("on Postgres: what its logins could do, that no scope is forgeable, and the clock", async () => {
    url = await createDatabase();
    const place = { databaseUrl: url, dataDir };
    await migrateDatabase(place);
    const facts = await examineDatabase(place);
    const anything = expect.objectContaining({ bypassesRowSecurity: true, ownsTables: true, maySystem: true });
    expect(facts.walls).toEqual({ tenant: anything, system: anything, scopeIsForgeable: false });
    expect(facts.missingAuditTriggers).toEqual([]);
    expect(facts.writes).toBe("ok");
    const owner = new pg.Client({ connectionString: url });
    await owner.connect();
    const name = new URL(url).pathname.slice(1);
    await owner.query(`alter database "${name}" set default_transaction_read_only = on`);
    const refusal = await examineDatabase(place).catch((error: unknown) => error);
    expect(troubleOf(refusal)).toEqual({
      what: "the database takes no writes: it is read-only",
      remedy: expect.stringContaining("Name the primary"),
    });
    await owner.query(`alter database "${name}" reset default_transaction_read_only`);
    await owner.query("alter table audit_chain disable trigger audit_chain_no_truncate");
    await owner.query(
      "create or replace function rmm_is_system() returns boolean language sql stable as $$ select current_setting('rmm.scope') = 'system' $$",
    );
    await owner.end();
    const tampered = await examineDatabase(place);
    expect(tampered.missingAuditTriggers).toEqual(["audit_chain_no_truncate"]);
    expect(tampered.walls).toMatchObject({ scopeIsForgeable: true });
    expect(Math.abs((facts.nowMs ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("fails for a database that is not there", async () => {
    await expect(examineDatabase({ databaseUrl: "postgres://127.0.0.1:1/none", dataDir })).rejects.toThrow();
  });
});
