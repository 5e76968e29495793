import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "./index.ts";
import { openSqlite } from "./sqlite.ts";

/** Waits for as long as a thread may take to start on a busy machine. */
const PATIENCE_MS = 20_000;

describe("the log of an embedded database", () => {
  let folder: string;
  let file: string;
  let store: Store;
  let written = 0;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "rmm-sqlite-"));
    file = join(folder, "rmm.db");
    store = openSqlite(file, { pages: 20 });
    await store.migrate();
    written = 0;
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const db = () => store.connection("system");
  const lease = () => {
    written += 1;
    return { name: `lease-${written}`, holder: "h", expiresAt: "2026-03-02T09:00:00.000Z" };
  };
  /** Writes until this is so. */
  const writeUntil = async (isSo: () => boolean) => {
    const endMs = performance.now() + PATIENCE_MS;
    while (!isSo() && performance.now() < endMs) {
      await db().insertInto("leases").values(lease()).execute();
      await db()
        .transaction()
        .execute((tx) => tx.insertInto("leases").values(lease()).execute());
    }
    return isSo();
  };
  /** Another one as soon as the log begins anew. */
  const salt = () => readFileSync(`${file}-wal`).subarray(16, 24).toString("hex");

  it("is written back beside commits, long before one has to, and begins anew", async () => {
    const [before, size] = [salt(), statSync(file).mtimeMs];
    expect(await writeUntil(() => statSync(file).mtimeMs !== size)).toBe(true);
    expect(await writeUntil(() => salt() !== before)).toBe(true);
    const rows = await db().selectFrom("leases").select("name").execute();
    expect(rows).toHaveLength(written);
  });

  it("is written back to the end where it is closed meanwhile", async () => {
    await writeUntil(() => written >= 60);
    await store.close();
    store = openSqlite(file);
    const rows = await db().selectFrom("leases").select("name").execute();
    expect(rows).toHaveLength(written);
  });
});
