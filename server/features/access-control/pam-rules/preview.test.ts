import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainElevation } from "#fixtures/nouns/access-control/elevation-requests";
import { seedWorld, type World } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

const DAY_MS = 86_400_000;

describe.each(databases)("previews of rules on %s", (database) => {
  let server: TestServer;
  let world: World;
  let other: World["b"];

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    other = world.b;
  });
  afterAll(() => server?.stop());

  type Given = Partial<Parameters<typeof plainElevation>[1]>;
  const requested = async (count: number, given: Given = {}, daysAgo = 0) => {
    const at = new Date(server.clock.nowMs() - daysAgo * DAY_MS).toISOString();
    const { orgId, deviceId } = world.a;
    const rows = Array.from({ length: count }, () =>
      plainElevation(at, { id: server.services.random.uuid(), orgId, deviceId, ...given }),
    );
    for (let from = 0; from < rows.length; from += 100)
      await server.db
        .insertInto("elevationRequests")
        .values(rows.slice(from, from + 100))
        .execute();
  };
  /** A caller of their own: the limit is a person's. */
  const preview = async (body: object, who?: SignedInUser) => {
    const { token } = who ?? (await server.signIn({ role: "Org Technician", orgId: world.a.orgId }));
    return server.request("POST", "/pam/rules/preview", { token, body });
  };

  it("count what a rule alone would have met in its window, by status, and show the newest", async () => {
    await requested(3, { subjectUsername: "X\\zoe" });
    await requested(9, { subjectUsername: "zoe", status: "denied" }, 2);
    await requested(1, { subjectUsername: "zoe" }, 31);
    const { status, body } = await preview({ matchUser: "Zoe" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, totalMatched: 12, windowDays: 30, truncated: false });
    const none = { approved: 0, auto_approved: 0, expired: 0, revoked: 0, actuating: 0 };
    expect(body.statusBreakdown).toEqual({ ...none, pending: 3, denied: 9 });
    expect(body.sample).toHaveLength(10);
    expect(body.sample[0]).toMatchObject({ subjectUsername: "X\\zoe", flowType: "uac_intercept", status: "pending" });
    expect((await preview({ matchUser: "zoe", windowDays: 1 })).body.totalMatched).toBe(3);
    expect((await preview({ matchUser: "zoe", windowDays: 90 })).body.totalMatched).toBe(13);
    expect((await preview({ matchUser: "zoe", flowType: "ai_tool_action" })).body.totalScanned).toBe(0);
    expect((await preview({ matchUser: "zoe", matchAdGroup: "Staff" })).body.totalMatched).toBe(0);
    expect((await preview({ matchUser: "zoe", siteId: world.a.siteId })).body.totalMatched).toBe(12);
  });

  it("keep to the time window of a rule: of a night over midnight its later hours too, UTC without a zone (C26)", async () => {
    const { orgId, deviceId } = world.a;
    // Friday 23:00, Saturday 01:00 and Saturday 07:00 in New York.
    for (const at of ["2026-02-28T04:00:00.000Z", "2026-02-28T06:00:00.000Z", "2026-02-28T12:00:00.000Z"])
      await server.db
        .insertInto("elevationRequests")
        .values(plainElevation(at, { id: server.services.random.uuid(), orgId, deviceId, subjectUsername: "owl" }))
        .execute();
    const met = async (timeWindow?: object) => {
      const { body } = await preview({ matchUser: "owl", ...(timeWindow && { timeWindow }) });
      return body.sample.map(({ requestedAt }: { requestedAt: string }) => requestedAt.slice(11, 13)).toReversed();
    };
    const night = { start: "22:00", end: "06:00", days: [5] };
    expect(await met()).toEqual(["04", "06", "12"]);
    expect(await met({ ...night, timezone: "America/New_York" })).toEqual(["04", "06"]);
    expect(await met(night)).toEqual(["04"]);
  });

  it("of a rule about executables meet no tool, and the other way round", async () => {
    const tool = {
      flowType: "ai_tool_action",
      toolName: "run_script",
      riskTier: 3,
      subjectUsername: "key:k1",
    } as const;
    await requested(2, { ...tool, targetExecutablePath: null, parentImage: null, commandLine: null });
    expect((await preview({ matchUser: "key:k1" })).body.totalMatched).toBe(0);
    expect((await preview({ matchUser: "key:k1", matchToolName: "run_script" })).body.totalMatched).toBe(2);
  });

  it("compare with one request, criterion by criterion, of whatever age", async () => {
    const id = server.services.random.uuid();
    const { orgId, deviceId } = world.a;
    const at = new Date(server.clock.nowMs() - 200 * DAY_MS).toISOString();
    const request = plainElevation(at, { id, orgId, deviceId, subjectUsername: "kim" });
    await server.db
      .insertInto("elevationRequests")
      .values({ ...request, targetExecutablePath: "C:/Tools/a.exe" })
      .execute();
    const compared = async (draft: object, who?: SignedInUser) =>
      (await preview({ ...draft, requestId: id }, who)).body;
    const draft = { matchUser: "KIM", matchPathGlob: "C:\\Tools\\*", matchNegate: ["user"], matchAdGroup: "Staff" };
    const { comparison, ...counts } = await compared(draft);
    expect(counts).toMatchObject({ totalMatched: 0, totalScanned: 1, truncated: false, sample: [] });
    expect(comparison).toEqual({
      ...{ matches: false, isAbout: true, isAtSite: true, isInWindow: true },
      criteria: [
        { criterion: "user", wanted: "KIM", negated: true, compared: "met" },
        { criterion: "adGroup", wanted: "Staff", negated: false, compared: "absent" },
        { criterion: "pathGlob", wanted: "C:\\Tools\\*", negated: false, compared: "met" },
      ],
    });
    const plain = await compared({ matchUser: "kim" });
    expect([plain.comparison.matches, plain.totalMatched, plain.sample[0].id]).toEqual([true, 1, id]);
    expect((await compared({ matchToolName: "run_script" })).comparison).toMatchObject({
      matches: false,
      isAbout: false,
    });
    const minute = new Date(Date.parse(at) + 3_600_000).toISOString().slice(11, 16);
    const late = { start: minute, end: new Date(Date.parse(at) + 7_200_000).toISOString().slice(11, 16) };
    expect((await compared({ matchUser: "kim", timeWindow: late })).comparison).toMatchObject({
      ...{ matches: false, isInWindow: false },
    });
    expect((await preview({ matchUser: "zoe" })).body.comparison).toBeNull();
  });

  it("compare with no request that the caller does not see", async () => {
    const [mine, theirs] = [server.services.random.uuid(), server.services.random.uuid()];
    const at = server.clock.now();
    const { orgId, siteId } = world.a;
    const rows = [
      plainElevation(at, { id: mine, orgId, deviceId: null, subjectUsername: "gone" }),
      plainElevation(at, { id: theirs, orgId: other.orgId, deviceId: other.deviceId, subjectUsername: "gone" }),
    ];
    await server.db.insertInto("elevationRequests").values(rows).execute();
    const confined = await server.signIn({ role: "Org Technician", orgId, siteIds: [siteId] });
    const asked = async (requestId: string, who?: SignedInUser) =>
      (await preview({ matchUser: "gone", ...(who && { siteId }), requestId }, who)).status;
    expect([await asked(mine), await asked(theirs), await asked(mine, confined)]).toEqual([200, 404, 404]);
    // What is about no device is at no site: people confined to sites neither scan nor count it.
    expect((await preview({ matchUser: "gone" })).body.totalMatched).toBe(1);
    expect((await preview({ matchUser: "gone", siteId }, confined)).body.totalMatched).toBe(0);
    expect((await preview({ matchUser: "gone", siteId })).body.totalMatched).toBe(0);
  });

  it("refuse what a rule could not be, and other organizations", async () => {
    expect((await preview({})).body.code).toBe("PAM_RULE_INVALID_SHAPE");
    expect((await preview({ matchHash: "" })).body.code).toBe("PAM_RULE_INVALID_SHAPE");
    expect((await preview({ matchToolName: "run_script", matchRiskTier: 1 })).body.validTiers).toEqual([3, 4]);
    expect((await preview({ matchUser: "zoe", windowDays: 91 })).status).toBe(400);
    expect((await preview({ matchUser: "zoe", siteId: other.siteId })).body.code).toBe("SITE_NOT_IN_ORG");
    expect((await preview({ matchSignerGroupId: other.signerGroupId })).body.code).toBe("SIGNER_GROUP_NOT_IN_ORG");
    expect((await preview({ matchUser: "zoe", orgId: other.orgId })).body.code).toBe("ORG_ACCESS_DENIED");
  });

  it("of people confined to sites scan and count their sites alone", async () => {
    const { orgId } = world.a;
    const partner = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    const created = { token: partner.token, body: { orgId, name: "Annex" } };
    const siteId = (await server.request("POST", "/orgs/sites", created)).body.id;
    const [deviceId = ""] = await makeDevices(server, [{ orgId, siteId }]);
    await requested(4, { subjectUsername: "annex", deviceId });
    await requested(2, { subjectUsername: "annex" });
    const confined = await server.signIn({ role: "Org Technician", orgId, siteIds: [world.a.siteId] });
    expect((await preview({ matchUser: "annex" })).body.totalMatched).toBe(6);
    const { body } = await preview({ matchUser: "annex", siteId: world.a.siteId }, confined);
    expect([body.totalMatched, body.statusBreakdown.pending]).toEqual([2, 2]);
    for (const draft of [{ siteId }, { siteId: null }])
      expect((await preview({ matchUser: "annex", ...draft }, confined)).body.code).toBe("SITE_ACCESS_DENIED");
  });

  it("count calls of tools where their device stands today, as the list does", async () => {
    const { orgId, siteId: from } = world.a;
    const partner = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    const created = { token: partner.token, body: { orgId, name: "Attic" } };
    const siteId = (await server.request("POST", "/orgs/sites", created)).body.id;
    const [deviceId = ""] = await makeDevices(server, [{ orgId, siteId }]);
    // Asked while it stood elsewhere.
    const toolTargets = [{ deviceId, hostname: "pc", siteId: from }];
    const moved = { flowType: "ai_tool_action", toolName: "create_ticket", riskTier: 1, toolTargets } as const;
    await requested(1, { ...moved, deviceId });
    // Of one that has left the organization.
    await requested(1, { ...moved, deviceId: null });
    const confined = (site: string) => server.signIn({ role: "Org Technician", orgId, siteIds: [site] });
    const draft = { matchToolName: "create_ticket" };
    const metAt = async (site: string) => (await preview({ ...draft, siteId: site }, await confined(site))).body;
    expect((await metAt(siteId)).totalMatched).toBe(1);
    expect(await metAt(from)).toMatchObject({ totalScanned: expect.any(Number), totalMatched: 0, sample: [] });
    expect((await preview(draft)).body.totalMatched).toBe(2);
  });

  it("end after 5,000 requests or 50,000,000 steps, say so, and let others on meanwhile (C14)", async () => {
    await requested(5_001, { commandLine: "a".repeat(400), targetExecutablePath: `C:/${"a".repeat(100)}` });
    const whole = await preview({ matchPathGlob: "c:/a**" });
    expect(whole.body).toMatchObject({ truncated: true, totalScanned: 5_000 });
    const asking = preview({ matchPathGlob: `${"*a".repeat(31)}*b`, matchCommandLine: `${"*a".repeat(31)}*b` });
    let longest = 0;
    let isDone = false;
    void asking.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const since = performance.now();
      await server.request("GET", "/health/live");
      longest = Math.max(longest, performance.now() - since);
    }
    const { body } = await asking;
    expect(body).toMatchObject({ totalMatched: 0, truncated: true });
    expect(longest).toBeLessThan(1_000);
  }, 120_000);

  it("are ten a minute for a person", async () => {
    const who = await server.signIn({ role: "Org Technician", orgId: world.a.orgId });
    for (let asked = 0; asked < 10; asked += 1)
      expect((await preview({ matchUser: "nobody", windowDays: 1, flowType: "tech_jit_admin" }, who)).status).toBe(200);
    expect((await preview({ matchUser: "nobody" }, who)).status).toBe(429);
  });
});
