import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dropDatabase } from "#fixtures/postgres";
import { readConfig } from "#server/config";
import { type RunningServer, startServer } from "#server/main";
import { jsonLog } from "#server/platform/log";
import { addEntries } from "../../../test/evidence/many-entries.ts";
import { databases, seedPartner, send, signIn } from "../../../test/harness.ts";
import { copiedPostgres, copiedSqlite } from "../../../test/migrated-database.ts";
import { type Rest, restVerifications } from "../../../test/resting.ts";
import { holdsSnapshot } from "../../../test/snapshots.ts";

/** A thread that starts, or ends, takes long on a busy machine. */
const LONGEST_MS = 60_000;
const eventually = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: LONGEST_MS });

describe.each(databases)("a server that stops amid verifications on %s", { timeout: 4 * LONGEST_MS }, (database) => {
  let dataDir: string;
  let url: string | undefined;
  let events: string[];
  let rest: Rest;
  const servers: RunningServer[] = [];

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "rmm-stopping-"));
    url = database === "postgres" ? (await copiedPostgres()).url : undefined;
    if (url === undefined) await copiedSqlite(dataDir);
    events = [];
    rest = await restVerifications();
  });
  afterEach(async () => {
    await rest.goOn();
    for (const server of servers.splice(0)) await server.stop();
    if (url !== undefined) await dropDatabase(url);
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(intervals: Record<string, number>): Promise<RunningServer> {
    const config = readConfig({
      PORT: "0",
      RMM_DATA_DIR: dataDir,
      DNS_RESOLVER: "127.0.0.1:1",
      WORKER_INTERVALS: JSON.stringify(intervals),
      ...(url === undefined ? {} : { DATABASE_URL: url }),
    });
    const log = jsonLog("info", (line) => void events.push((JSON.parse(line) as { event: string }).event));
    const server = await startServer({ config: { ...config, port: 0 }, log });
    servers.push(server);
    return server;
  }

  const db = ({ services }: RunningServer) => services.store.connection("system");
  const behind = (server: RunningServer) => ({ services: server.services, db: db(server) });
  const held = ({ services }: RunningServer) => holdsSnapshot(services.store);

  async function withEntries(server: RunningServer) {
    const { partnerId, orgIds } = await seedPartner(behind(server), "acme", ["one"]);
    const orgId = orgIds[0] as string;
    await addEntries({ db: db(server) }, { orgId, partnerId, count: 3_000 });
    return { orgId, partnerId };
  }

  const lastRun = async (server: RunningServer) =>
    /^worker_last_run_timestamp_seconds\{worker="audit.verify"\} (\S+)$/m.exec(
      (await send(server.url, "GET", "/metrics")).body,
    )?.[1];

  it("does not wait for the daily one, finds nothing broken, and runs it when it starts again", async () => {
    const first = await start({});
    await withEntries(first);
    await first.stop();
    const server = await start({ "audit.verify": 0.2 });
    await eventually(() => held(server)).toBe(true);
    await server.stop();
    expect(events).toContain("schedule.cut_off");
    expect(events).not.toContain("audit.chain_broken");
    expect(events).not.toContain("schedule.failed");
    await rest.goOn();
    const next = await start({});
    await eventually(() => lastRun(next)).toBeDefined();
    expect(await db(next).selectFrom("auditIncidents").selectAll().execute()).toEqual([]);
    expect(await db(next).selectFrom("leases").select("name").where("name", "like", "%audit.verify").execute()).toEqual(
      [],
    );
    expect(events).not.toContain("audit.chain_broken");
  });

  it("tells who waits for one to come again, and records no success", async () => {
    const server = await start({});
    const { orgId, partnerId } = await withEntries(server);
    const { token } = await signIn(behind(server), { role: "Partner Admin", partnerId });
    const asked = send(server.url, "POST", "/audit-logs/verify", { token, body: { orgId } });
    await eventually(() => held(server)).toBe(true);
    await server.stop();
    const { status, headers } = await asked;
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    await rest.goOn();
    const next = await start({});
    const told = await db(next)
      .selectFrom("auditLogs")
      .select(["result", "errorMessage"])
      .where("action", "=", "audit_logs.verify")
      .execute();
    expect(told).toEqual([{ result: "failure", errorMessage: "Try again later" }]);
  });
});
