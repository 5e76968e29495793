import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "./index.ts";
import { openSqlite } from "./sqlite.ts";

describe("the embedded database", () => {
  let folder: string;
  let store: Store;
  const leases = () => store.connection("system").selectFrom("leases").select("name").execute();
  const lease = (name: string) => ({ name, holder: "h", expiresAt: "2026-03-02T09:00:00.000Z" });
  const transaction = () => store.connection("system").transaction();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "rmm-sqlite-"));
    store = openSqlite(join(folder, "rmm.db"));
    await store.migrate();
  });
  afterAll(async () => {
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("a transaction that the engine ended itself tells what failed, and the next writer has its turn", async () => {
    const full = transaction().execute(async (tx) => {
      await tx.insertInto("leases").values(lease("lost")).execute();
      await sql`rollback`.execute(tx);
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    });
    const next = transaction().execute((tx) => tx.insertInto("leases").values(lease("kept")).execute());
    await expect(full).rejects.toMatchObject({ code: "SQLITE_FULL" });
    await next;
    expect(await leases()).toEqual([{ name: "kept" }]);
  });

  it("a commit that is refused leaves nothing behind, and the next writer has its turn", async () => {
    const id = "0198a000-0000-7000-8000-000000000000";
    const refused = transaction().execute(async (tx) => {
      await sql`pragma defer_foreign_keys = on`.execute(tx);
      await tx.insertInto("partnerUserOrgs").values({ partnerId: id, membershipId: id, orgId: id }).execute();
    });
    const next = transaction().execute((tx) => tx.insertInto("leases").values(lease("after")).execute());
    await expect(refused).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_FOREIGNKEY" });
    await next;
    expect((await leases()).map(({ name }) => name)).toContain("after");
    expect(await store.connection("system").selectFrom("partnerUserOrgs").selectAll().execute()).toEqual([]);
  });

  it("reads outside a transaction see what is committed: not before, and at once after", async () => {
    await transaction().execute(async (tx) => {
      await tx.deleteFrom("leases").execute();
      await tx.insertInto("leases").values(lease("mine")).execute();
      expect(await tx.selectFrom("leases").select("name").execute()).toEqual([{ name: "mine" }]);
      expect(await leases()).not.toEqual([{ name: "mine" }]);
    });
    expect(await leases()).toEqual([{ name: "mine" }]);
  });

  it("no read stays open: it would show all others the database of its beginning", async () => {
    const rows = store.connection("system").selectFrom("leases").select("name").stream();
    await expect(rows[Symbol.asyncIterator]().next()).rejects.toThrow("not streamed");
  });

  it("is whole in its one file once it is closed, so that a copy of the file is a copy of the database", async () => {
    const file = join(folder, "closed.db");
    const first = openSqlite(file);
    await first.migrate();
    await first.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
    const again = openSqlite(file);
    expect(await again.migrate()).toEqual([]);
    await again.close();
  });

  it("is migrated entirely or not at all", async () => {
    const unlike = openSqlite(join(folder, "unlike.db"));
    const db = unlike.connection("system");
    await sql`create table devices (id text)`.execute(db);
    await expect(unlike.migrate()).rejects.toThrow("table devices already exists");
    const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'`.execute(db);
    expect(rows.map(({ name }) => name).filter((name) => !/^(sqlite|kysely)_/.test(name))).toEqual(["devices"]);
    await unlike.close();
  });
});
