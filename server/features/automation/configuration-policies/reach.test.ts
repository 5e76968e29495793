import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditOf } from "../../../test/audit-of.ts";
import { makeDevices } from "../../../test/devices.ts";
import { enroll, makeKey, makeSite } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

const pam = { type: "pam", settings: { uacInterceptionEnabled: true } };
const events = { type: "event_log", settings: { minimumLevel: "error", rateLimitPerHour: 100 } };

interface Target {
  level: string;
  targetId?: string;
}

describe.each(databases)("who sees configuration policies, and what they cover, on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;
  let member: string;
  let confined: string;
  let depot: string;
  let own: { orgId: string };

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "1000" });
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    await server.db.deleteFrom("configurationPolicies").execute();
    own = { orgId: acme.orgId };
    depot = await makeSite(server, acme.orgId, "Depot");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    ({ token: member } = await server.signIn({ role: "Org Admin", orgId: acme.orgId }));
    ({ token: confined } = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] }));
  }, 60_000);
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, as = token) =>
    server.request(method, path, { token: as, ...(body ? { body } : {}) });
  const made = async (owner: object, assignments: Target[], features: object[] = [events]) => {
    const answer = await send("POST", "/policies", { name: "P", features, assignments, ...owner });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const ofPartner = { ownerScope: "partner" };
  const refused = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body.code];
  const device = async (change: object = {}) =>
    (await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId, ...change }]))[0] as string;
  const group = async (body: object) =>
    (await send("POST", "/groups", { orgId: acme.orgId, name: server.services.random.uuid(), ...body })).body
      .id as string;
  const idsIn = async (as: string, query = "") =>
    (await send("GET", `/policies?limit=100${query}`, undefined, as)).body.data.map(
      ({ id }: { id: string }) => id,
    ) as string[];
  const targetsSeen = async (id: string, as: string) => {
    const { status, body } = await send("GET", `/policies/${id}`, undefined, as);
    return status === 200 ? body.assignments.map(({ targetId }: Target) => targetId).toSorted() : status;
  };
  const assignmentsOf = async (policyId: string) =>
    (
      await server.db
        .selectFrom("configurationPolicyAssignments")
        .select("targetId")
        .where("policyId", "=", policyId)
        .execute()
    ).map(({ targetId }) => targetId);

  it("show a member of an organization its own, and of its partner's those that cover it, cut to what covers it", async () => {
    const second = { level: "organization", targetId: acme.secondOrgId };
    const [wide, both, away, bare] = [
      await made(ofPartner, [{ level: "partner" }, second]),
      await made(ofPartner, [{ level: "organization", targetId: acme.orgId }, second]),
      await made(ofPartner, [second]),
      await made(ofPartner, []),
    ];
    const mine = await made(own, []);
    const theirs = await made({ orgId: acme.secondOrgId }, []);
    const seen = await idsIn(member);
    expect(seen).toEqual([mine, both, wide].map(({ id }) => id));
    expect(await idsIn(token, `&orgId=${acme.orgId}`)).toEqual(seen);
    expect(await targetsSeen(wide.id, member)).toEqual([acme.partnerId]);
    expect(await targetsSeen(both.id, member)).toEqual([acme.orgId]);
    const list = await send("GET", "/policies?limit=100", undefined, member);
    expect(list.body.data.map((one: { assignmentCount: number }) => one.assignmentCount)).toEqual([0, 1, 1]);
    expect(JSON.stringify(list.body)).not.toContain(acme.secondOrgId);
    for (const { id } of [away, bare, theirs])
      expect(refused(await send("GET", `/policies/${id}`, undefined, member))).toEqual([404, "NOT_FOUND"]);
    // What covers them may be read, and no more.
    for (const [method, path, body] of [
      ["PATCH", "", { name: "X" }],
      ["PUT", "", { name: "X" }],
      ["POST", "/deactivate"],
      ["DELETE", ""],
    ] as [string, string, object?][]) {
      expect(refused(await send(method, `/policies/${both.id}${path}`, body, member))).toEqual([
        403,
        "FULL_PARTNER_ACCESS_REQUIRED",
      ]);
      expect(refused(await send(method, `/policies/${away.id}${path}`, body, member))).toEqual([404, "NOT_FOUND"]);
    }
    expect((await assignmentsOf(both.id)).toSorted()).toEqual([acme.orgId, acme.secondOrgId].toSorted());
    const answer = await send("POST", "/policies", { name: "X", ownerScope: "partner" }, member);
    expect(refused(answer)).toEqual([403, "FULL_PARTNER_ACCESS_REQUIRED"]);
    const rival = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect(refused(await send("GET", `/policies/${wide.id}`, undefined, rival.token))).toEqual([404, "NOT_FOUND"]);
    expect(await idsIn(rival.token)).not.toContain(wide.id);
  });

  it("show staff with chosen organizations what covers these, and let them write no partner's policy", async () => {
    const chosen = await server.signIn({
      ...{ role: "Partner Technician", partnerId: acme.partnerId, orgAccess: "selected", orgIds: [acme.orgId] },
    });
    const away = await makeSite(server, acme.secondOrgId, "Away");
    const [here, there] = [await device(), await device({ orgId: acme.secondOrgId, siteId: away })];
    const shared = await made(ofPartner, [
      { level: "device", targetId: here },
      { level: "device", targetId: there },
    ]);
    expect(await targetsSeen(shared.id, chosen.token)).toEqual([here]);
    expect((await send("GET", `/policies/${shared.id}`)).body.appliedDeviceCount).toBe(2);
    expect((await send("GET", `/policies/${shared.id}`, undefined, chosen.token)).body.appliedDeviceCount).toBe(1);
    for (const [method, path, body] of [
      ["PATCH", "", { name: "X" }],
      ["DELETE", ""],
      ["POST", "/deactivate"],
    ] as [string, string, object?][])
      expect(refused(await send(method, `/policies/${shared.id}${path}`, body, chosen.token))).toEqual([
        ...[403, "FULL_PARTNER_ACCESS_REQUIRED"],
      ]);
    const theirs = await made({ orgId: acme.secondOrgId }, []);
    expect(refused(await send("GET", `/policies/${theirs.id}`, undefined, chosen.token))).toEqual([404, "NOT_FOUND"]);
    expect(refused(await send("POST", "/policies", { orgId: acme.secondOrgId, name: "X" }, chosen.token))).toEqual([
      403,
      "ORG_ACCESS_DENIED",
    ]);
    expect(refused(await send("GET", `/policies/effective/device/${there}`, undefined, chosen.token))).toEqual([
      404,
      "NOT_FOUND",
    ]);
  });

  it("show people confined to sites what covers these, and let them write none", async () => {
    const [near, far] = [await device(), await device({ siteId: depot })];
    const [nearGroup, farGroup] = [await group({ siteId: acme.siteId }), await group({ siteId: depot })];
    const [mixed, empty] = [await group({ deviceIds: [near, far] }), await group({ deviceIds: [far] })];
    const of = (level: string, ...ids: string[]) => ids.map((targetId) => ({ level, targetId }));
    const policy = await made(own, [
      ...of("site", acme.siteId, depot),
      ...of("device", near, far),
      ...of("device_group", nearGroup, farGroup, mixed, empty),
      ...of("organization", acme.orgId),
    ]);
    const seen = [acme.siteId, near, nearGroup, mixed, acme.orgId].toSorted();
    expect(await targetsSeen(policy.id, confined)).toEqual(seen);
    const list = await send("GET", "/policies?limit=1", undefined, confined);
    expect(list.body.data).toMatchObject([{ id: policy.id, assignmentCount: seen.length }]);
    const reached = await send("GET", `/devices?limit=1&siteId=${acme.siteId}`);
    expect((await send("GET", `/policies/${policy.id}`, undefined, confined)).body.appliedDeviceCount).toBe(
      reached.body.pagination.total,
    );
    const away = await made(ofPartner, of("device", far));
    expect(refused(await send("GET", `/policies/${away.id}`, undefined, confined))).toEqual([404, "NOT_FOUND"]);
    expect(await idsIn(confined)).not.toContain(away.id);
    expect(refused(await send("POST", "/policies", { name: "X" }, confined))).toEqual([403, "SITE_ACCESS_DENIED"]);
    for (const [method, path, body] of [
      ["PATCH", "", { name: "X" }],
      ["PUT", "", { name: "X" }],
      ["POST", "/deactivate"],
      ["DELETE", ""],
    ] as [string, string, object?][])
      expect(refused(await send(method, `/policies/${policy.id}${path}`, body, confined))).toEqual([
        403,
        "SITE_ACCESS_DENIED",
      ]);
    expect(await targetsSeen(policy.id, token)).toHaveLength(9);
    expect(refused(await send("GET", `/policies/effective/device/${far}`, undefined, confined))).toEqual([
      403,
      "SITE_ACCESS_DENIED",
    ]);
    expect(
      (await send("GET", `/policies/effective/device/${near}`, undefined, confined)).body.effective.event_log,
    ).toMatchObject({
      ...{ sourcePolicyId: policy.id, sourceLevel: "device", settings: events.settings },
    });
    expect(refused(await send("GET", `/policies/effective/device/${other.deviceId}`))).toEqual([404, "NOT_FOUND"]);
  });

  it("no longer cover what goes: devices that move or retire, sites that are removed, groups of a policy that is over", async () => {
    const [moving, retiring, staying] = [await device(), await device(), await device()];
    const site = await makeSite(server, acme.orgId, "Closing");
    const ofSite = await group({ siteId: site });
    const policy = await made(
      ofPartner,
      [moving, retiring, staying]
        .map((targetId) => ({ level: "device", targetId }))
        .concat([
          { level: "site", targetId: site },
          { level: "device_group", targetId: ofSite },
        ]),
    );
    const target = await makeSite(server, acme.secondOrgId, "New home");
    expect(
      (await send("POST", `/devices/${moving}/move-org`, { orgId: acme.secondOrgId, siteId: target })).status,
    ).toBe(200);
    expect((await send("DELETE", `/devices/${retiring}`)).status).toBe(200);
    expect((await send("DELETE", `/orgs/sites/${site}`)).status).toBe(200);
    expect(await assignmentsOf(policy.id)).toEqual([staying]);
    const [entry] = await auditOf(server, ({ action, resourceId }) => action === "site.delete" && resourceId === site);
    expect(entry?.details["removedPolicyAssignments"]).toBe(1);
    expect(
      (await send("GET", `/policies/effective/device/${moving}`)).body.effective.event_log.sourcePolicyId,
    ).not.toBe(policy.id);

    const held = await group({});
    const over = await made(own, [{ level: "device_group", targetId: held }]);
    const answer = await send("DELETE", `/groups/${held}`);
    expect([...refused(answer), answer.body.details]).toEqual([
      409,
      "IN_USE",
      { policyIds: [over.id], filterGroupIds: [] },
    ]);
    await send("POST", `/policies/${over.id}/deactivate`);
    expect(refused(await send("DELETE", `/groups/${held}`))).toEqual([409, "IN_USE"]);
    await send("PATCH", `/policies/${over.id}`, { status: "archived" });
    expect((await send("DELETE", `/groups/${held}`)).status).toBe(200);
    expect(await assignmentsOf(over.id)).toEqual([]);
  });

  it("are told to the agent of a device with its next heartbeat, and to one that may only uninstall not at all", async () => {
    const key = await makeKey(server, { orgId: acme.secondOrgId, siteId: null });
    const { body: pc } = await enroll(server, key, { hostname: "told" });
    const beat = async () => {
      const path = `/agents/${pc.agentId}/heartbeat`;
      const answer = await server.request("POST", path, { token: pc.agentToken, body: { status: "ok" } });
      expect(answer.status).toBe(200);
      return answer.body.config.policies;
    };
    await server.db.deleteFrom("configurationPolicies").execute();
    expect(await beat()).toMatchObject({ pam: { uacInterceptionEnabled: false }, event_log: { minimumLevel: "info" } });
    const wide = await made(ofPartner, [{ level: "partner" }], [pam, events]);
    expect(await beat()).toEqual({
      pam: pam.settings,
      event_log: expect.objectContaining(events.settings),
      monitoring: null,
      backup: null,
    });
    // Closer, and silent about events: those of the partner stay.
    const off = { type: "pam", settings: { uacInterceptionEnabled: false } };
    await made({ orgId: acme.secondOrgId }, [{ level: "device", targetId: pc.deviceId }], [off]);
    expect(await beat()).toMatchObject({ pam: off.settings, event_log: events.settings });
    await send("POST", `/policies/${wide.id}/deactivate`);
    expect(await beat()).toMatchObject({ event_log: { minimumLevel: "info", rateLimitPerHour: 12_000 } });
    const leaving = { status: "offboarding" as const, offboardingTarget: "archived" as const };
    await server.db.updateTable("organizations").set(leaving).where("id", "=", acme.secondOrgId).execute();
    expect(await beat()).toEqual({ pam: null, event_log: null, monitoring: null, backup: null });
  });

  it("are stored for no target of another organization, and for none by a connection of one", async () => {
    const policy = await made(ofPartner, []);
    const row = {
      ...{ id: server.services.random.uuid(), policyId: policy.id, orgId: acme.orgId, partnerId: null },
      ...{ level: "site" as const, targetId: other.siteId, siteId: other.siteId, groupId: null, deviceId: null },
      ...{ priority: 0, roleFilter: null, osFilter: null, assignedBy: null, createdAt: server.clock.now() },
    };
    const insert = (change: object) =>
      server.db
        .insertInto("configurationPolicyAssignments")
        .values({ ...row, ...change })
        .execute();
    await expect(insert({})).rejects.toThrow(/foreign key/i);
    await expect(insert({ level: "organization", siteId: null, targetId: acme.secondOrgId })).rejects.toThrow(/check/i);
    await expect(insert({ level: "partner", siteId: null, targetId: acme.partnerId })).rejects.toThrow(/check/i);
    expect(await assignmentsOf(policy.id)).toEqual([]);
  });
});
