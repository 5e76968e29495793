import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { policyFeature } from "#contract/core/policy-features/event-log";
import { seedTenant, type Tenant } from "#fixtures/world";
import { HOUR } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { dropOldLogs } from "./retention.ts";
import { defaults } from "./settings.ts";

describe.each(databases)("event logs of devices on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;
  let userId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    ({ token, userId } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    await server.db.deleteFrom("rateLimits").execute();
    await server.db.deleteFrom("deviceEventLogs").execute();
    await server.db.deleteFrom("notifications").execute();
  });

  const event = (eventId: string | undefined, more: object = {}) => ({
    ...{ timestamp: server.clock.now(), level: "info", category: "system", source: "disk", eventId, message: "bad" },
    ...more,
  });
  const many = (count: number, name = "e") => Array.from({ length: count }, (_, at) => event(`${name}/${at}`));
  const submit = (events: unknown, { deviceId, agentToken }: Tenant = acme) =>
    server.request("PUT", `/agents/${deviceId}/eventlogs`, { token: agentToken, body: { events } });
  const list = async (query = "") =>
    (await server.request("GET", `/devices/${acme.deviceId}/eventlogs${query}`, { token })).body;
  const stored = async () => (await server.db.selectFrom("deviceEventLogs").select("id").execute()).length;
  const use = (name: string, subject: string, amount: number) =>
    server.services.limiter.takeWithin(
      server.db as never,
      { name, max: 1_000_000, windowSeconds: 3_600 },
      subject,
      amount,
    );

  it("are stored once for each source and record, and listed by filters, the newest first", async () => {
    const at = (minute: number) => new Date(server.clock.nowMs() - minute * 60_000).toISOString();
    const events = [
      event("1", { timestamp: at(3), level: "critical", category: "security" }),
      event("2", { timestamp: at(2), level: "warn", details: { eventNumber: 7 } }),
      event("2", { timestamp: at(1), source: "other" }),
    ];
    expect((await submit(events)).body).toEqual({ success: true, count: 3, filtered: 0 });
    expect((await submit([...events, event("3"), event("3")])).body).toEqual({ success: true, count: 1, filtered: 0 });
    const shown = await list();
    expect(shown.pagination).toEqual({ page: 1, limit: 50, total: 4 });
    expect(shown.data.map(({ eventId }: { eventId: string }) => eventId)).toEqual(["3", "2", "2", "1"]);
    expect(shown.data[2]).toMatchObject({ level: "warning", details: { eventNumber: 7 }, deviceId: acme.deviceId });
    const totals = async (query: string) => (await list(query)).pagination.total;
    expect(await totals("?category=security")).toBe(1);
    expect(await totals("?level=warning")).toBe(1);
    expect(await totals("?source=other")).toBe(1);
    expect(await totals(`?startDate=${at(2)}&endDate=${at(1)}`)).toBe(2);
    expect((await list("?limit=9999")).pagination.limit).toBe(500);
  });

  it("without an id of their record are stored once as well", async () => {
    const nameless = [event(undefined, { timestamp: "not a time" }), event(undefined, { message: "other" })];
    expect((await submit(nameless)).body.count).toBe(2);
    server.clock.advance(60_000);
    expect((await submit(nameless)).body.count).toBe(0);
    expect((await list()).data[0].eventId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("are never refused for one entry, and keep no secret", async () => {
    const answer = await submit([
      ...["nonsense", null, event("1", { message: 7 }), event("2", { level: "loud" })],
      event("3", { category: "weird", source: "", message: "x".repeat(3_000), details: [1] }),
      event("4", { message: "cmd /c net user bob hunter2 /add", details: { CommandLine: "x --password hunter2" } }),
      event("5", { details: { big: "z".repeat(70_000), small: 1 }, timestamp: "2999-01-01T00:00:00Z" }),
    ]);
    expect(answer.body).toEqual({ success: true, count: 3, filtered: 0, invalid: 4 });
    const rows = await server.db.selectFrom("deviceEventLogs").selectAll().orderBy("id").execute();
    expect(rows).toMatchObject([
      { category: "system", source: "unknown", fields: null },
      { fields: { CommandLine: "x --password ********" } },
      { fields: { small: 1, truncated: true, originalTimestamp: "2999-01-01T00:00:00Z" } },
    ]);
    expect([rows[0]?.message.length, JSON.stringify(rows).includes("hunter2")]).toEqual([2_000, false]);
    for (const none of [undefined, "none", []])
      expect((await submit(none)).body).toMatchObject({ success: true, count: 0, filtered: 0 });
    expect((await submit(many(5_001, "many"))).body).toMatchObject({ count: 5_000, ignoredFields: ["events"] });
  });

  it("beyond the device's half of the hour are refused whole, and the answer says how many may be sent now", async () => {
    const half = defaults.rateLimitPerHour / 2;
    await use("event-log-device", acme.deviceId, half - 3);
    const before = (await auditEntries(server, "agent.eventlogs.submit")).length;
    const refused = await submit(many(4));
    expect([refused.status, refused.body]).toMatchObject([429, { error: "Rate limit exceeded", remaining: 3 }]);
    expect(Date.parse(refused.body.resetAt)).toBeGreaterThan(server.clock.nowMs());
    expect(await stored()).toBe(0);
    expect((await submit(many(3))).body.count).toBe(3);
    // What was stored before takes no room.
    expect((await submit(many(3))).status).toBe(429);
    expect((await submit(many(1, "new"))).body).toMatchObject({ remaining: 0 });
    const entries = (await auditEntries(server, "agent.eventlogs.submit")).slice(before);
    expect(entries.filter(({ result }) => result === "denied")).toMatchObject([
      { orgId: acme.orgId, resourceId: acme.deviceId, details: { limit: half, of: "device" } },
    ]);
    const told = await server.db.selectFrom("notifications").selectAll().where("userId", "=", userId).execute();
    expect(told).toMatchObject([{ metadata: { deviceId: acme.deviceId, of: "device" } }]);
    server.clock.advance(HOUR + 120_000);
    expect((await submit(many(1, "later"))).body.count).toBe(1);
  });

  it("beyond the organization's hour are refused, of whichever device; duplicates do not count", async () => {
    await use("event-log-organization", acme.orgId, defaults.rateLimitPerHour - 2);
    expect((await submit(many(2))).body.count).toBe(2);
    const refused = await submit(many(1, "more"));
    expect([refused.status, refused.body]).toMatchObject([429, { remaining: 0 }]);
    const told = await server.db.selectFrom("notifications").selectAll().where("userId", "=", userId).execute();
    expect(told).toMatchObject([{ metadata: { of: "organization" } }]);
    const other = await seedTenant(server.db, server.services, `roomy-${database}`);
    expect((await submit(many(1), other)).body.count).toBe(1);
  });

  it("that are stored already give their room back", async () => {
    await use("event-log-device", acme.deviceId, defaults.rateLimitPerHour / 2 - 10);
    expect((await submit(many(4))).body.count).toBe(4);
    for (let times = 0; times < 5; times += 1) expect((await submit(many(4))).body.count).toBe(0);
    expect((await submit(many(10))).status).toBe(429);
    expect((await submit(many(6, "new"))).body.count).toBe(6);
  });

  it("follow what the organization's policy says, or else its partner's, and are kept as long", async () => {
    await server.db.deleteFrom("configurationPolicies").execute();
    await server.db.deleteFrom("deviceLogs").execute();
    await assignPolicy(
      { partnerId: acme.partnerId },
      { minimumLevel: "error", rateLimitPerHour: 12_000, retentionDays: 7 },
    );
    const three = [event("1"), event("2", { level: "error" }), event("3", { level: "critical" })];
    expect((await submit(three)).body).toMatchObject({ count: 2, filtered: 1 });
    expect((await submit([event("4")])).body).toEqual({ success: true, count: 0, filtered: 1 });
    await assignPolicy({ orgId: acme.orgId }, { minimumLevel: "info", rateLimitPerHour: 100, retentionDays: 30 });
    expect((await submit([event("5")])).body).toMatchObject({ count: 1, filtered: 0 });
    expect((await submit(many(101, "beyond"))).body).toMatchObject({ code: "RATE_LIMITED", remaining: 97 });
    server.clock.advance(29 * 24 * HOUR);
    expect(await dropOldLogs(server.services)).toBe(0);
    server.clock.advance(2 * 24 * HOUR);
    expect(await dropOldLogs(server.services)).toBe(3);
    ({ token, userId } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    await server.db.deleteFrom("configurationPolicies").execute();
  });

  /** A policy that covers the whole organization, or the whole partner. */
  async function assignPolicy(whose: { orgId: string } | { partnerId: string }, settings: Record<string, unknown>) {
    const [id, now] = [server.services.random.uuid(), server.clock.now()];
    const owner = { orgId: null, partnerId: null, ...whose };
    await server.db
      .insertInto("configurationPolicies")
      .values({
        ...{ id, ...owner, name: id, description: null, status: "active", version: 1, createdBy: null },
        ...{ createdAt: now, updatedAt: now },
      })
      .execute();
    const feature = { id: server.services.random.uuid(), policyId: id, ...owner, type: "event_log" as const };
    await server.db
      .insertInto("configurationPolicyFeatures")
      .values({ ...feature, settings: { ...policyFeature.fallback, ...settings } })
      .execute();
    const level = "orgId" in whose ? ("organization" as const) : ("partner" as const);
    await server.db
      .insertInto("configurationPolicyAssignments")
      .values({
        ...{
          id: server.services.random.uuid(),
          policyId: id,
          ...owner,
          level,
          targetId: Object.values(whose)[0] as string,
        },
        ...{ siteId: null, groupId: null, deviceId: null, priority: 0, roleFilter: null, osFilter: null },
        ...{ assignedBy: null, createdAt: now },
      })
      .execute();
  }

  it("that are left out for their level are no reason to refuse what comes, however little room there is", async () => {
    await server.db.deleteFrom("configurationPolicies").execute();
    await assignPolicy({ orgId: acme.orgId }, { minimumLevel: "error" });
    await use("event-log-device", acme.deviceId, defaults.rateLimitPerHour / 2 - 1);
    expect((await submit([event("e", { level: "error" })])).body).toMatchObject({ count: 1, filtered: 0 });
    const less = await submit(many(3));
    expect([less.status, less.body]).toEqual([200, { success: true, count: 0, filtered: 3 }]);
    expect((await submit([...many(3), event("f", { level: "error" })])).status).toBe(429);
    await server.db.deleteFrom("configurationPolicies").execute();
  });

  it("that come at once from one device are all stored, within the limit", async () => {
    await use("event-log-device", acme.deviceId, defaults.rateLimitPerHour / 2 - 20);
    const answers = await Promise.all([0, 1, 2, 3].map((at) => submit(many(8, `at once ${at}`))));
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect([admitted, await stored()]).toEqual([2, 16]);
  });
});
