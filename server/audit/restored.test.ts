import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { seedTenant } from "#fixtures/world";
import { openSqliteFile } from "../db/dialect/sqlite-library.ts";
import { databases, startTestServer, type TestServer } from "../test/harness.ts";
import { auditEntry } from "./entry.ts";
import { auditHandle } from "./handle.ts";
import { enqueueAudit } from "./outbox.ts";

/** What canonical forms trip over: order of keys, numbers of other spellings, other scripts, depth. */
const odd: readonly Record<string, unknown>[] = [
  { z: 1, a: 2, "\u00e9": 3, e: { b: [], a: {} }, 10: "ten", 9: "nine" },
  { one: 1.0, big: 1e21, small: 1e-7, zero: -0, large: 9_007_199_254_740_991, tenth: 0.1 },
  { text: '株式会社テスト 👩‍💻 e\u0301 \\ " \u2028 \u007f', empty: "", "": null, list: [null, true, [[]]] },
  { before: { name: "a", deep: deep(80) }, after: { name: "b" } },
  { sql: "'; drop table audit_logs; --", json: '{"a":1}', space: " \t\n" },
];

function deep(levels: number): unknown {
  return levels === 0 ? "bottom" : { [`level${levels}`]: deep(levels - 1) };
}

describe.each(databases)("an untouched record on %s", (database) => {
  it("verifies after a restart, and after dump and restore, whatever its details hold (C32)", async () => {
    const directory = mkdtempSync(join(tmpdir(), "rmm-restored-"));
    const copies: string[] = [];
    const place = await original(database, directory);
    // Its own database and its own folder, keys included: what a machine has left after a restart.
    const start = (url: string) => startTestServer("sqlite", { DATABASE_URL: url, RMM_DATA_DIR: directory });
    try {
      const first = await start(place.url);
      const tenant = await seedTenant(first.db, first.services, "acme");
      const { orgId } = tenant;
      const entries = odd.map((details) =>
        auditEntry(
          { orgId, action: "site.update", actorType: "user", resourceName: "e\u0301", details, result: "success" },
          { now: new Date(first.clock.nowMs()) },
        ),
      );
      await first.db.transaction().execute((tx) => enqueueAudit(auditHandle(tx), entries));
      first.services.wakeAuditWriter();
      await first.settled();
      const whole = await verdict(first, orgId);
      expect(whole).toMatchObject({ ok: true, breakCount: 0 });
      expect(whole.entriesChecked).toBeGreaterThanOrEqual(odd.length);
      await first.stop();

      const again = await start(place.url);
      // The verification before is on record too.
      expect(await verdict(again, orgId)).toMatchObject({ ok: true, entriesChecked: whole.entriesChecked + 1 });
      await again.settled();
      await again.stop();

      const restoredUrl = await place.dumpAndRestore();
      copies.push(restoredUrl);
      const restored = await start(restoredUrl);
      expect(await verdict(restored, orgId)).toMatchObject({ ok: true, entriesChecked: whole.entriesChecked + 2 });
      await restored.stop();
    } finally {
      for (const url of [place.url, ...copies]) if (url.startsWith("postgres")) await dropDatabase(url);
      rmSync(directory, { recursive: true, force: true });
    }
  }, 120_000);
});

async function verdict(server: TestServer, orgId: string) {
  const { token } = await server.signIn({ role: "Org Admin", orgId });
  const answer = await server.request("POST", "/audit-logs/verify", { token, body: {} });
  await server.settled();
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as { ok: boolean; breakCount: number; entriesChecked: number };
}

async function original(database: "sqlite" | "postgres", directory: string) {
  if (database === "postgres") {
    const url = await createDatabase();
    return { url, dumpAndRestore: () => createDatabase({ template: url }) };
  }
  const file = join(directory, "first.db");
  return {
    url: `sqlite:${file}`,
    async dumpAndRestore() {
      const copy = join(directory, "restored.db");
      const db = openSqliteFile(file);
      db.exec(`vacuum into '${copy}'`);
      db.close();
      return `sqlite:${copy}`;
    },
  };
}
