import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { prepared, preparedRows } from "../prepared.ts";
import type { Store } from "./index.ts";
import { openSqlite } from "./sqlite.ts";
import * as handles from "./sqlite-handle.ts";

const onMain = vi.fn<(sql: string) => void>();
vi.mock(import("./sqlite-handle.ts"), async (original) => {
  const real = await original();
  return {
    ...real,
    handleOf(raw) {
      const handle = real.handleOf(raw);
      return {
        ...handle,
        run: (sql, parameters) => {
          onMain(sql);
          return handle.run(sql, parameters);
        },
        rows: (sql, parameters) => {
          onMain(sql);
          return handle.rows(sql, parameters);
        },
      };
    },
  };
});

const leaseNames = preparedRows((db, { like }: { like: string }) =>
  db.selectFrom("leases").select(["name", "expiresAt"]).where("name", "like", like).orderBy("name"),
);
const leaseOf = prepared(["name"], (db, at) => db.selectFrom("leases").select("holder").where("name", "=", at.name));

describe("reads of a large embedded database", () => {
  const folder = mkdtempSync(join(tmpdir(), "rmm-sqlite-"));
  let store: Store;
  const db = () => store.connection("system");
  const expiresAt = "2026-03-02T09:00:00.000Z";
  const add = (name: string) => db().insertInto("leases").values({ name, holder: "h", expiresAt }).execute();
  /** What ran in the process's own thread meanwhile. */
  const during = async <R>(work: () => Promise<R>) => {
    onMain.mockClear();
    const result = await work();
    return { result, statements: onMain.mock.calls.map(([sql]) => sql.split(" ", 1)[0]) };
  };

  beforeAll(async () => {
    expect(handles.handleOf).toBeDefined();
    store = openSqlite(join(folder, "rmm.db"), { largeBytes: 1 });
    await store.migrate();
  });
  afterAll(async () => {
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("lists are read in a thread, and see what was written before", async () => {
    for (const name of ["a", "b", "c"]) {
      await add(name);
      const { result, statements } = await during(() => leaseNames(db(), { like: name }, null));
      expect(result).toEqual([{ name, expiresAt }]);
      expect(statements).toEqual([]);
    }
  });

  it("so is whatever is no single read", async () => {
    const { result, statements } = await during(() => db().selectFrom("leases").select("name").execute());
    expect([result.length, statements]).toEqual([3, []]);
  });

  it("single reads, and all reads of a transaction, stay in the process's own thread", async () => {
    expect(await during(() => leaseOf(db(), { name: "a" }))).toEqual({
      result: { holder: "h" },
      statements: ["select"],
    });
    const inside = await during(() =>
      db()
        .transaction()
        .execute(async (tx) => {
          await tx.insertInto("leases").values({ name: "mine", holder: "h", expiresAt }).execute();
          return leaseNames(tx, { like: "mine" }, null);
        }),
    );
    expect(inside.result).toEqual([{ name: "mine", expiresAt }]);
    expect(inside.statements).toEqual(["begin", "insert", "select", "commit"]);
  });

  it("more reads than threads wait for their turn, and each gets its own answer", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    for (const name of names) await add(name);
    const found = await Promise.all(names.map((name) => leaseNames(db(), { like: name }, null)));
    expect(found.map((rows) => rows[0]?.name)).toEqual(names);
  });

  it("a statement that fails tells why and leaves the thread for others", async () => {
    const broken = {
      ...CompiledQuery.raw("select * from nowhere"),
      query: { kind: "SelectQueryNode" },
    } as CompiledQuery;
    await expect(db().executeQuery(broken)).rejects.toMatchObject({
      message: "no such table: nowhere",
      code: "SQLITE_ERROR",
    });
    expect(await leaseNames(db(), { like: "a" }, null)).toHaveLength(1);
  });

  it("a small database is read at once", async () => {
    const small = openSqlite(join(folder, "small.db"));
    await small.migrate();
    const { statements } = await during(() => leaseNames(small.connection("system"), { like: "a" }, null));
    expect(statements).toEqual(["select"]);
    await small.close();
  });
});
