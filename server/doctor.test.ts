import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { openSqliteFile } from "./db/dialect/sqlite-library.ts";
import { examineDatabase, migrateDatabase, troubleOf, trustsClients } from "./doctor.ts";

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

  it("on SQLite: how many partner principals in use may come from named addresses alone", async () => {
    const file = join(dataDir, "listed.db");
    const place = { databaseUrl: `sqlite:${file}`, dataDir };
    expect((await examineDatabase(place)).allowLists).toBeUndefined();
    await migrateDatabase(place);
    expect((await examineDatabase(place)).allowLists).toBe(0);
    const db = openSqliteFile(file);
    db.pragma("foreign_keys = off");
    const columns =
      "id, partner_id, name, status, scopes, org_access, source_cidrs, rate_limit, created_at, updated_at";
    const insert = db.prepare(`insert into partner_service_principals (${columns})
      values (?, 'p', ?, ?, '[]', 'all', ?, 100, '2026-01-01', '2026-01-01')`);
    insert.run("1", "listed", "active", '["203.0.113.0/24"]');
    insert.run("2", "off", "disabled", '["203.0.113.0/24"]');
    insert.run("3", "anywhere", "active", "[]");
    db.close();
    expect((await examineDatabase(place)).allowLists).toBe(1);
  });

  it("whether clients can choose their address: where proxies are counted, or everybody is one", () => {
    const chosen = (text: string | undefined) => trustsClients(text);
    expect(["true", "2", "0.0.0.0/0", "10.0.0.0/8,::/0"].map(chosen)).toEqual([true, true, true, true]);
    expect([undefined, "false", "0", "10.0.0.0/8,fd00::/8"].map(chosen)).toEqual([false, false, false, false]);
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
