import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { sumUpHours } from "#server/features/fleet/hourly-entries/sum-up";
import { HOUR } from "#server/platform/clock";
import { asOwner } from "../../../test/as-owner.ts";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { dropOldLogs } from "./retention.ts";

describe.each(databases)("what agents log on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    await server.db.deleteFrom("rateLimits").execute();
    await server.db.deleteFrom("deviceLogs").execute();
    await server.db.deleteFrom("deviceEventLogs").execute();
  });

  const now = () => server.clock.now();
  const log = (message: unknown, more: object = {}) => ({
    ...{ timestamp: now(), level: "info", component: "updater", message },
    ...more,
  });
  const submit = (logs: unknown, headers: Record<string, string> = {}) =>
    server.request("POST", `/agents/${acme.deviceId}/logs`, { token: acme.agentToken, body: { logs }, headers });
  const list = async (query = "") =>
    (await server.request("GET", `/devices/${acme.deviceId}/diagnostic-logs${query}`, { token })).body;

  it("is stored and listed, the newest first, in pages whose total is that of the filters", async () => {
    const at = (minute: number) => new Date(server.clock.nowMs() - minute * 60_000).toISOString();
    const answer = await submit([
      log("first", { timestamp: at(30), level: "debug" }),
      log("second 100%", { timestamp: at(20), level: "WARNING", component: "core", fields: { a: 1 } }),
      log("third 100x", { timestamp: at(10), level: "error" }),
    ]);
    expect([answer.status, answer.body]).toEqual([201, { received: 3 }]);
    const shown = await list();
    expect(shown).toMatchObject({ total: 3, limit: 50, offset: 0 });
    expect(shown.logs.map(({ message }: { message: string }) => message)).toEqual([
      ...["third 100x", "second 100%", "first"],
    ]);
    expect(shown.logs[1]).toMatchObject({ level: "warn", component: "core", fields: { a: 1 }, createdAt: now() });
    expect(await list("?limit=2&page=2")).toMatchObject({
      total: 3,
      limit: 2,
      offset: 2,
      logs: [{ message: "first" }],
    });
    const totals = async (query: string) => (await list(query)).total;
    expect(await totals("?level=warn,error")).toBe(2);
    expect(await totals("?level=warn,nonsense")).toBe(1);
    expect(await list("?level=nonsense")).toMatchObject({ total: 0, logs: [] });
    expect(await totals("?component=core")).toBe(1);
    expect(await totals("?search=100%25")).toBe(1);
    expect(await totals(`?since=${at(25)}&until=${at(15)}`)).toBe(1);
    const bad = await server.request("GET", `/devices/${acme.deviceId}/diagnostic-logs?since=yesterday`, { token });
    expect(bad.body.code).toBe("VALIDATION_ERROR");
  });

  it("is read from gzip, within the limits of what is sent and of what it inflates to", async () => {
    const send = (bytes: Buffer, encoding = "gzip") =>
      fetch(`${server.url}/api/v1/agents/${acme.deviceId}/logs`, {
        method: "POST",
        headers: {
          ...{ authorization: `Bearer ${acme.agentToken}`, "content-type": "application/json" },
          "content-encoding": encoding,
        },
        body: new Uint8Array(bytes),
      });
    const zipped = (value: unknown) => gzipSync(JSON.stringify(value));
    expect((await send(zipped({ logs: [log("zipped")] }))).status).toBe(201);
    const bomb = await send(gzipSync(Buffer.alloc(11 * 1024 * 1024, " ")));
    expect([bomb.status, await bomb.json()]).toMatchObject([413, { details: { limitBytes: 10 * 1024 * 1024 } }]);
    expect((await send(Buffer.alloc(300 * 1024))).status).toBe(413);
    expect((await submit([log("x".repeat(300 * 1024))])).status).toBe(413);
    for (const [bytes, encoding] of [
      [Buffer.from("no gzip"), "gzip"],
      [zipped({}), "br"],
      [zipped({ logs: [log("cut")] }).subarray(0, 30), "gzip"],
    ] as const)
      expect((await send(bytes, encoding)).status).toBe(400);
    // No other endpoint reads it.
    const elsewhere = await fetch(`${server.url}/api/v1/agents/${acme.deviceId}/software`, {
      method: "PUT",
      headers: {
        ...{ authorization: `Bearer ${acme.agentToken}`, "content-type": "application/json" },
        "content-encoding": "gzip",
      },
      body: new Uint8Array(zipped({ software: [] })),
    });
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([400, { code: "INVALID_JSON" }]);
    expect((await list()).logs.map(({ message }: { message: string }) => message)).toEqual(["zipped"]);
  });

  it("is never refused for one entry: what cannot be used is counted, the rest repaired", async () => {
    const answer = await submit([
      ...["nonsense", null, 7, log(""), log("x", { level: "loud" }), { message: "no level" }],
      log("a\u0000b\ud800", { component: "c\u202e", fields: "none", timestamp: "yesterday" }),
      log("y".repeat(11_000), { component: 9, agentVersion: { v: 1 }, fields: { big: "z".repeat(40_000), small: 1 } }),
      log("early", { timestamp: "2999-01-01T00:00:00Z" }),
    ]);
    expect([answer.status, answer.body]).toEqual([201, { received: 9, invalid: 6 }]);
    const rows = await server.db.selectFrom("deviceLogs").selectAll().orderBy("id").execute();
    expect(rows).toMatchObject([
      { message: "a\ufffdb\ufffd", component: "c\ufffd", fields: { originalTimestamp: "yesterday" }, timestamp: now() },
      { component: "9", agentVersion: null, fields: { small: 1, truncated: true } },
      { message: "early", fields: { originalTimestamp: "2999-01-01T00:00:00Z" }, timestamp: now() },
    ]);
    expect(rows[1]?.message).toHaveLength(10_000);
  });

  it("of nothing, or of no list, stores nothing; of too many takes the first 500", async () => {
    for (const none of [[], undefined, "none"]) expect((await submit(none)).status).toBe(200);
    const many = await submit(Array.from({ length: 501 }, (_, at) => log(`m ${at}`)));
    expect([many.status, many.body]).toEqual([201, { received: 500, ignoredFields: ["logs"] }]);
    expect((await list()).total).toBe(500);
  });

  it("is stored up to the group that fails, and told from where to send again", async () => {
    const fails =
      database === "sqlite"
        ? "create trigger failing before insert on device_logs when new.message = 'boom' begin select raise(abort, 'boom'); end"
        : "alter table device_logs add constraint failing check (message <> 'boom')";
    await asOwner(server, [fails]);
    try {
      const logs = Array.from({ length: 350 }, (_, at) => log(at === 250 ? "boom" : `m ${at}`));
      const answer = await submit(logs);
      expect([answer.status, answer.body]).toEqual([207, { received: 200, total: 350, partial: true }]);
      expect((await list()).total).toBe(200);
      expect((await submit(logs.slice(200))).status).toBe(500);
      expect((await list()).total).toBe(200);
    } finally {
      await asOwner(server, [
        database === "sqlite" ? "drop trigger failing" : "alter table device_logs drop constraint failing",
      ]);
    }
  });

  it("holds no secret, neither in the message nor in fields", async () => {
    await submit([
      log('login with {"password":"hunter2"}', { fields: { authorization: "hunter2", env: ["TOKEN=hunter2"] } }),
      log("GET https://bob:hunter2@host/ Authorization: Bearer hunter2hunter2hunter2"),
    ]);
    const stored = await server.db.selectFrom("deviceLogs").selectAll().execute();
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).not.toContain("hunter2");
  });

  it("is limited a device and hour, by entries and by size, and a refused submission costs nothing", async () => {
    const { limiter } = server.services;
    const use = (name: string, max: number, amount: number) =>
      limiter.takeWithin(server.db as never, { name, max, windowSeconds: 3_600 }, acme.deviceId, amount);
    await use("device-log-entries", 20_000, 19_998);
    expect((await submit([log("1"), log("2"), log("3")])).body).toMatchObject({ code: "RATE_LIMITED" });
    expect((await submit([log("1"), log("2")])).status).toBe(201);
    expect((await submit([log("3")])).status).toBe(429);
    expect((await list()).total).toBe(2);
    server.clock.advance(2 * HOUR);
    await use("device-log-kilobytes", 64 * 1024, 64 * 1024 - 9);
    expect((await submit([log("a ".repeat(4_999))])).status).toBe(429);
    expect((await submit([log("a ".repeat(4_000))])).status).toBe(201);
  });

  it("is audited once an hour and device, and the rest of the hour in one entry of sums", async () => {
    await server.db.deleteFrom("deviceLogHours").execute();
    const before = (await auditEntries(server, "agent.logs.submit")).length;
    const entries = async () => (await auditEntries(server, "agent.logs.submit")).slice(before);
    await submit([log("1")]);
    await submit([log("2"), log("3")]);
    await submit([log("4"), log("")]);
    expect((await entries()).map(({ details }) => details)).toMatchObject([{ count: 1, filtered: 0 }]);
    expect(await sumUpHours(server.services)).toBe(0);
    server.clock.advance(HOUR);
    expect(await sumUpHours(server.services)).toBe(1);
    const all = await entries();
    expect(all).toMatchObject([{}, { orgId: acme.orgId, actorType: "agent", resourceId: acme.deviceId }]);
    expect(all[1]?.details).toMatchObject({ requests: 2, count: 3, filtered: 1, siteIds: [acme.siteId] });
    // A submission that comes before the clock does ends the hour itself.
    await submit([log("5")]);
    await submit([log("6")]);
    server.clock.advance(HOUR);
    await submit([log("7")]);
    expect((await entries()).slice(2).map(({ details }) => details)).toMatchObject([
      ...[{ count: 1 }, { count: 1, filtered: 0 }, { requests: 1, count: 1 }],
    ]);
  });

  it("is dropped after seven days by our clock, whatever the device's says", async () => {
    await submit([log("old", { timestamp: now() })]);
    server.clock.advance(6 * 24 * HOUR);
    await submit([log("new", { timestamp: "2001-01-01T00:00:00Z" })]);
    expect(await dropOldLogs(server.services)).toBe(0);
    server.clock.advance(25 * HOUR);
    expect(await dropOldLogs(server.services)).toBe(1);
    // Tokens do not last so long.
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    expect((await list()).logs).toMatchObject([{ message: "new" }]);
  });

  it("is that of one device, seen by whoever sees the device alone", async () => {
    await submit([log("of acme")]);
    const other = await seedTenant(server.db, server.services, `other-${database}`);
    const stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    const path = `/devices/${acme.deviceId}/diagnostic-logs`;
    expect((await server.request("GET", path, { token: stranger.token })).status).toBe(404);
    const body = { logs: [log("forged")] };
    const forged = await server.request("POST", `/agents/${acme.deviceId}/logs`, { token: other.agentToken, body });
    expect(forged.status).toBe(404);
    expect((await list()).total).toBe(1);
    // What was logged for an organization stays with it.
    await server.db
      .updateTable("deviceLogs")
      .set({ orgId: other.orgId } as never)
      .execute();
    expect((await list()).total).toBe(0);
  });
});
