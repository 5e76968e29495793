import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import type { ChainStatement } from "./audit/anchor-format.ts";
import { auditHandle } from "./audit/handle.ts";
import { anchorGrowth } from "./audit/keeper.ts";
import { enqueueAudit } from "./audit/outbox.ts";
import { readConfig } from "./config.ts";
import { type RunningServer, startServer } from "./main.ts";
import { HOUR, heldClock } from "./platform/clock.ts";
import { silentLog } from "./platform/log.ts";
import { entriesOf } from "./test/audit-world.ts";
import { databases, START } from "./test/harness.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";

describe.each(databases)("a server with its background work on %s", (database) => {
  let directory: string;
  let url: string;
  let server: RunningServer;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "rmm-background-"));
    url = database === "postgres" ? await createDatabase() : `sqlite:${join(directory, "rmm.db")}`;
  });
  afterEach(async () => {
    await server?.stop();
    if (database === "postgres") await dropDatabase(url);
    rmSync(directory, { recursive: true, force: true });
  });

  const at = (file: string) => join(directory, file);
  const start = async (anchorFile: string) => {
    const env = { DATABASE_URL: url, RMM_DATA_DIR: directory, AUDIT_ANCHOR_FILE: at(anchorFile), PORT: "0" };
    const mailer = { delivers: true, send: async () => undefined };
    // A stopped clock: no schedule is due.
    const clock = heldClock(START);
    server = await startServer({ config: { ...readConfig(env), port: 0 }, clock, log: silentLog, mailer });
  };
  const grow = (count: number) =>
    auditHandle(server.services.store.connection("system"))
      .transaction()
      .execute((trx) => enqueueAudit(trx, entriesOf(count)));
  const kept = (file: string): ChainStatement[] => {
    const lines = existsSync(at(file)) ? readFileSync(at(file), "utf8").trim().split("\n") : [];
    return lines.filter((line) => line.includes(ORG)).map((line) => JSON.parse(line) as ChainStatement);
  };

  it("anchors at its end what its chains grew by, and completes a file of its own at its start and every hour", async () => {
    const timers = vi.spyOn(globalThis, "setInterval");
    await start("first.ndjson");
    await grow(3);
    await server.stop();
    expect(kept("first.ndjson")).toMatchObject([{ anchorSeq: 1, headChainSeq: 3, signature: expect.any(String) }]);

    timers.mockClear();
    await start("second.ndjson");
    await vi.waitFor(() => expect(kept("second.ndjson")).toEqual(kept("first.ndjson")), { timeout: 10_000 });
    const hourly = timers.mock.calls.filter(([, ms]) => ms === HOUR).map(([run]) => run);
    timers.mockRestore();

    // Another process, with a file of its own, takes the next one.
    await grow(2);
    server.services.wakeAuditWriter();
    const other = { ...server.services, config: { ...server.services.config, anchorFile: at("first.ndjson") } };
    await vi.waitFor(
      async () => {
        await anchorGrowth(other);
        expect(kept("first.ndjson")).toMatchObject([{ headChainSeq: 3 }, { headChainSeq: 5 }]);
      },
      { timeout: 10_000 },
    );
    expect(kept("second.ndjson")).toHaveLength(1);
    for (const run of hourly) run();
    await vi.waitFor(() => expect(kept("second.ndjson")).toEqual(kept("first.ndjson")), { timeout: 10_000 });
  });
});
