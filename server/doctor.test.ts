import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { examineDatabase, migrateDatabase } from "./doctor.ts";

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
      role: undefined,
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
    new Sqlite(file).exec("drop trigger audit_logs_no_update").close();
    expect((await examineDatabase(place)).missingAuditTriggers).toEqual(["audit_logs_no_update"]);
  });

  it("on Postgres: that the server's role cannot bypass row-level security, and the clock", async () => {
    url = await createDatabase();
    const place = { databaseUrl: url, dataDir };
    await migrateDatabase(place);
    const facts = await examineDatabase(place);
    expect(facts.role).toEqual({ name: "rmm_app", bypassesRowSecurity: false });
    expect(facts.missingAuditTriggers).toEqual([]);
    const owner = new pg.Client({ connectionString: url });
    await owner.connect();
    await owner.query("alter table audit_chain disable trigger audit_chain_no_truncate");
    await owner.end();
    expect((await examineDatabase(place)).missingAuditTriggers).toEqual(["audit_chain_no_truncate"]);
    expect(Math.abs((facts.nowMs ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("fails for a database that is not there", async () => {
    await expect(examineDatabase({ databaseUrl: "postgres://127.0.0.1:1/none", dataDir })).rejects.toThrow();
  });
});
