import { describe, expect, it } from "vitest";
import { auditEntry } from "#server/audit/entry";
import { auditedServer } from "../../../test/audited-server.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";
import { COUNTED_MAX } from "./reports.ts";

const DAY = 86_400_000;
const EMPTY = Date.parse("2020-01-01T00:00:00.000Z");
const reports = ["/reports/user-activity", "/reports/security-events", "/reports/compliance", "/stats"];

describe.each(databases)("reports of the audit log on %s", (database) => {
  const here = auditedServer(database, { name: "Ana Admin" });
  /** Each test has days of its own. */
  let dayMs = EMPTY;

  type Event = Partial<Parameters<typeof auditEntry>[0]>;
  /** Writes entries a millisecond apart on a day of their own, and answers the query for that day. */
  const plant = async (events: Event[]): Promise<string> => {
    dayMs += DAY;
    const entries = events.map((event, at) =>
      auditEntry(
        {
          orgId: here.world.a.orgId,
          actorType: "user",
          actorId: here.admin.userId,
          result: "success",
          action: "x",
          ...event,
        },
        { now: new Date(dayMs + at) },
      ),
    );
    await here.record(entries);
    const day = new Date(dayMs).toISOString().slice(0, 10);
    return `from=${day}&to=${day}`;
  };
  const read = (path: string, who = here.admin) =>
    here.server.request("GET", `/audit-logs${path}`, { token: who.token });
  const at = (ms: number) => new Date(dayMs + ms).toISOString();

  it("user activity counts people and keys, the busiest first, under the name they had", async () => {
    const ben = await here.server.signIn({
      role: "Partner Admin",
      partnerId: here.world.a.partnerId,
      name: "Ben Today",
    });
    const key = here.server.services.random.uuid();
    const day = await plant([
      { actorId: ben.userId, actorEmail: "ben@old.example", details: { actorName: "Ben Old" } },
      { actorId: ben.userId, actorEmail: "ben@new.example", details: { actorName: "Ben Then" } },
      { actorType: "api_key", actorId: key },
      { actorType: "system" },
      { actorType: "agent", actorId: here.server.services.random.uuid() },
      {},
      {},
      {},
    ]);
    const { body } = await read(`/reports/user-activity?${day}`);
    expect(body.actionsPerUser).toEqual([
      { userId: here.admin.userId, userName: "Ana Admin", userEmail: null, actionCount: 3, lastActiveAt: at(7) },
      {
        ...{ userId: ben.userId, userName: "Ben Then", userEmail: "ben@new.example" },
        ...{ actionCount: 2, lastActiveAt: at(1) },
      },
      {
        ...{
          userId: key,
          userName: `API Key ${key.slice(0, 8)}`,
          userEmail: null,
          actionCount: 1,
          lastActiveAt: at(2),
        },
      },
    ]);
    expect(body).toMatchObject({ totalUsers: 3, totalEvents: 6, truncated: false, oldest: at(0) });
    expect(body.topUsers).toEqual(body.actionsPerUser);
    const logs = (await read(`/logs?${day}`)).body.data;
    const people = logs.filter(({ user }: { user: { role: string } }) => ["user", "api_key"].includes(user.role));
    expect(body.recentActivity).toEqual(people);
  });

  it("user activity shows the five busiest and the newest ten", async () => {
    const many = Array.from({ length: 7 }, () => here.server.services.random.uuid());
    const day = await plant(many.flatMap((actorId, index) => Array.from({ length: index + 1 }, () => ({ actorId }))));
    const { body } = await read(`/reports/user-activity?${day}`);
    expect(body.topUsers.map(({ actionCount }: { actionCount: number }) => actionCount)).toEqual([7, 6, 5, 4, 3]);
    expect([body.totalUsers, body.recentActivity.length]).toEqual([7, 10]);
  });

  it("security events counts sign-ins, those that failed, and changes of permissions", async () => {
    const day = await plant([
      ...[{ action: "user.login" }, { action: "user.login" }, { action: "user.login", result: "denied" }],
      ...[{ action: "user.login.failed", result: "denied" }, { action: "user.permission.change" }],
      ...[{ action: "policy.update" }, { action: "policy.create" }, { action: "policy.evaluate" }],
      ...[{ action: "automation.policy.evaluate" }, { action: "agent.source.ip.changed", actorType: "agent" }],
      ...[{ action: "policy.delete" }, { action: "user.logout" }, { action: "site.update" }],
    ]);
    const { body } = await read(`/reports/security-events?${day}`);
    expect(body).toMatchObject({ totalEvents: 10, loginAttempts: 4, failedLogins: 2, permissionChanges: 1 });
    expect(body.byAction).toEqual([
      { action: "user.login", count: 3 },
      ...[
        "agent.source.ip.changed",
        "automation.policy.evaluate",
        "policy.create",
        "policy.evaluate",
        "policy.update",
      ].map((action) => ({ action, count: 1 })),
      ...["user.login.failed", "user.permission.change"].map((action) => ({ action, count: 1 })),
    ]);
    expect(body.recentEvents.map(({ action }: { action: string }) => action)).toEqual([
      ...["agent.source.ip.changed", "automation.policy.evaluate", "policy.evaluate", "policy.create", "policy.update"],
      ...["user.permission.change", "user.login.failed", "user.login", "user.login", "user.login"],
    ]);
  });

  it("compliance counts what was read, changed and exported", async () => {
    const day = await plant([
      ...[{ action: "data.access" }, { action: "data.access" }, { action: "data.export" }, { action: "data.other" }],
      ...[{ action: "device.create" }, { action: "device.delete" }, { action: "policy.update" }],
      ...[{ action: "policy.evaluate" }, { action: "automation.policy.evaluate" }, { action: "script.execute" }],
      ...[{ action: "organization.update" }, { action: "device.update" }, { action: "policy.create" }],
      ...[{ action: "site.update" }, { action: "database.x" }],
    ]);
    const { body } = await read(`/reports/compliance?${day}`);
    expect(body).toMatchObject({ totalEvents: 11, dataAccess: 2, exports: 1, dataChanges: 9, truncated: false });
    const counts = body.byAction.map(({ action, count }: { action: string; count: number }) => [action, count]);
    expect(counts[0]).toEqual(["data.access", 2]);
    expect(counts).toHaveLength(10);
    expect(counts.flat()).not.toContain("device.update");
    expect(body.recentEvents.map(({ action }: { action: string }) => action)[0]).toBe("organization.update");
  });

  it("stats counts every entry, by category and by person", async () => {
    const day = await plant([
      ...[{ action: "user.login" }, { action: "device.update" }, { action: "device.create", actorType: "system" }],
      ...[{ action: "data.access" }, { action: "site.update", actorType: "agent" }],
    ]);
    const { body } = await read(`/stats?${day}`);
    expect(body).toEqual({
      totalEvents: 5,
      byCategory: [
        { category: "device", count: 2 },
        ...["authentication", "compliance", "system"].map((category) => ({ category, count: 1 })),
      ],
      byUser: [{ userId: here.admin.userId, userName: "Ana Admin", actionCount: 3 }],
      range: { from: at(0), to: at(DAY - 1) },
      ...{ truncated: false, oldest: at(0) },
    });
    expect((await read("/stats")).body.range).toEqual({ from: null, to: null });
  });

  it("counts no more than the newest 5,000 and says so; what is not counted takes no place among them", async () => {
    const more = 10;
    const day = await plant(
      Array.from(
        { length: COUNTED_MAX + more },
        (_, index) => [{ action: "user.login" }, { actorType: "system" }][index % 2]!,
      ).concat(Array.from({ length: COUNTED_MAX }, () => ({ action: "user.login" }))),
    );
    const security = (await read(`/reports/security-events?${day}`)).body;
    expect(security).toMatchObject({ totalEvents: COUNTED_MAX, truncated: true, oldest: at(COUNTED_MAX + more) });
    const people = (await read(`/reports/user-activity?${day}`)).body;
    expect(people).toMatchObject({ totalEvents: COUNTED_MAX, totalUsers: 1, truncated: true });
    expect((await read(`/stats?${day}`)).body).toMatchObject({ totalEvents: COUNTED_MAX, truncated: true });
    const until = at(COUNTED_MAX + more - 1);
    const rest = (await read(`/reports/security-events?${day.split("&")[0]}&to=${until}`)).body;
    expect(rest).toMatchObject({ totalEvents: (COUNTED_MAX + more) / 2, truncated: false, oldest: at(0) });
    const none = (await read("/reports/compliance?from=2019-01-01&to=2019-01-02")).body;
    expect(none).toMatchObject({ totalEvents: 0, byAction: [], recentEvents: [], truncated: false, oldest: null });
  }, 120_000);

  it("counts what the caller may read alone, and refuses another tenant's organization", async () => {
    const { orgId, secondOrgId, partnerId, siteId } = here.world.a;
    const action = "user.login";
    const day = await plant([
      { action, actorId: null, details: { siteIds: [siteId] } },
      { action, actorId: null, details: { siteIds: [here.server.services.random.uuid()] } },
      { action, actorId: null, orgId: secondOrgId },
      { action, actorId: null, orgId: null, partnerId },
      { action, actorId: null, orgId: here.world.b.orgId },
    ]);
    const role = "Partner Admin";
    const callers: [SignedInUser, number][] = [
      [here.admin, 4],
      [await here.server.signIn({ role, partnerId, orgAccess: "selected", orgIds: [orgId] }), 2],
      [await here.server.signIn({ role, partnerId, orgAccess: "none", orgIds: [] }), 0],
      [await here.server.signIn({ role: "Org Admin", orgId }), 2],
      [await here.server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] }), 1],
    ];
    for (const [who, count] of callers)
      for (const path of reports.filter((one) => !one.endsWith("compliance")))
        expect([path, (await read(`${path}?${day}`, who)).body.totalEvents]).toEqual([path, count]);
    expect((await read(`/reports/user-activity?${day}&orgId=${secondOrgId}`)).body.totalEvents).toBe(1);
    await here.server.db
      .updateTable("organizations")
      .set({ deletedAt: here.server.clock.now() })
      .where("id", "=", secondOrgId)
      .execute();
    expect((await read(`/stats?${day}`)).body.totalEvents).toBe(4);
    for (const path of reports) {
      const foreign = await read(`${path}?orgId=${here.world.b.orgId}`);
      expect([path, foreign.status, foreign.body.code]).toEqual([path, 403, "ORG_ACCESS_DENIED"]);
      expect((await read(`${path}?from=2026-02-02&to=2026-02-01`)).status).toBe(400);
    }
  });
});
