import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { prepared, preparedRows } from "../prepared.ts";
import type { Store } from "./index.ts";
import { openSqlite } from "./sqlite.ts";

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
  const sent = vi.spyOn(Worker.prototype, "postMessage");
  /** How many statements went to threads meanwhile. */
  const during = async <R>(work: () => Promise<R>) => {
    sent.mockClear();
    const result = await work();
    return { result, inThreads: sent.mock.calls.length };
  };

  beforeAll(async () => {
    store = openSqlite(join(folder, "rmm.db"), { largeBytes: 1 });
    await store.migrate();
  });
  afterAll(async () => {
    sent.mockRestore();
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("lists are read in a thread, and see what was written before", async () => {
    for (const name of ["a", "b", "c"]) {
      await add(name);
      const read = await during(() => leaseNames(db(), { like: name }, null));
      expect(read).toEqual({ result: [{ name, expiresAt }], inThreads: 1 });
    }
  });

  it("so is whatever is no single read", async () => {
    const { result, inThreads } = await during(() => db().selectFrom("leases").select("name").execute());
    expect([result.length, inThreads]).toEqual([3, 1]);
  });

  it("single reads, and all reads of a transaction, stay in the process's own thread", async () => {
    expect(await during(() => leaseOf(db(), { name: "a" }))).toEqual({ result: { holder: "h" }, inThreads: 0 });
    const inside = await during(() =>
      db()
        .transaction()
        .execute(async (tx) => {
          await tx.insertInto("leases").values({ name: "mine", holder: "h", expiresAt }).execute();
          return leaseNames(tx, { like: "mine" }, null);
        }),
    );
    expect(inside).toEqual({ result: [{ name: "mine", expiresAt }], inThreads: 0 });
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

  it("closing ends the reads that wait for a thread", async () => {
    const closing = openSqlite(join(folder, "closing.db"), { largeBytes: 1 });
    await closing.migrate();
    const read = () => leaseNames(closing.connection("system"), { like: "a" }, null);
    await read();
    const reads = Array.from({ length: 500 }, () => read().catch((error: Error) => error.message));
    await new Promise(setImmediate);
    await closing.close();
    expect(await Promise.all(reads)).toContain("the database is closed");
  });

  it("a small database is read at once", async () => {
    const small = openSqlite(join(folder, "small.db"));
    await small.migrate();
    const read = await during(() => leaseNames(small.connection("system"), { like: "a" }, null));
    expect(read).toEqual({ result: [], inThreads: 0 });
    await small.close();
  });
});
