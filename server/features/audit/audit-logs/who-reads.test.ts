import { beforeAll, describe, expect, it } from "vitest";
import { builtInRoleId } from "#server/access/roles";
import { auditEntry } from "#server/audit/entry";
import { auditOf } from "../../../test/audit-of.ts";
import { auditedServer } from "../../../test/audited-server.ts";
import { makeDevices } from "../../../test/devices.ts";
import { enroll } from "../../../test/enroll.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";

describe.each(databases)("who reads which entries on %s", (database) => {
  const here = auditedServer(database);
  let system: SignedInUser;

  beforeAll(async () => {
    system = await here.server.signIn({ role: "System Admin" });
  });

  const read = (path: string, who = here.admin) =>
    here.server.request("GET", `/audit-logs${path}`, { token: who.token });
  const send = (method: string, path: string, body?: object, who = here.admin) =>
    here.server.request(method, path, { token: who.token, ...(body ? { body } : {}) });
  const partnerUser = (orgAccess: "selected" | "none", orgIds: string[] = []) =>
    here.server.signIn({ role: "Partner Admin", partnerId: here.world.a.partnerId, orgAccess, orgIds });
  /** Entries that are written as they are. */
  const plant = async (events: Partial<Parameters<typeof auditEntry>[0]>[]) => {
    const entries = events.map((event) =>
      auditEntry(
        { orgId: here.world.a.orgId, action: "site.update", actorType: "user", result: "success", ...event },
        { now: new Date(here.server.clock.nowMs()) },
      ),
    );
    return here.record(entries);
  };
  /** What of these the caller sees, in every way of reading, which must agree. */
  const seen = async (ids: string[], who: SignedInUser, query = "") => {
    const lists = await Promise.all([
      read(`/logs?limit=100${query}`, who).then(({ body }) => body.data),
      read(`?limit=100${query}`, who).then(({ body }) => body.entries),
      read(`/search?limit=100&q=u${query}`, who).then(({ body }) => body.data),
    ]);
    const byId: string[] = [];
    for (const id of ids) if ((await read(`/logs/${id}`, who)).status === 200) byId.push(id);
    for (const list of lists)
      expect(ids.filter((id) => list.some((entry: { id: string }) => entry.id === id))).toEqual(byId);
    return byId.map((id) => ids.indexOf(id));
  };

  it("shows the partner's chain to members of all its organizations, to others what they did themselves", async () => {
    const some = await partnerUser("selected", [here.world.a.orgId]);
    const none = await partnerUser("none");
    const customer = await here.server.signIn({ role: "Org Admin", orgId: here.world.a.orgId });
    const partner = { orgId: null, partnerId: here.world.a.partnerId, action: "partner.settings.update" };
    const ids = await plant([
      { ...partner, actorId: here.admin.userId },
      { ...partner, actorId: some.userId },
      { ...partner, actorId: none.userId },
      { ...partner, actorType: "api_key", actorId: some.userId },
      { orgId: here.world.a.orgId },
      { orgId: here.world.a.secondOrgId },
      { orgId: here.world.a.secondOrgId, actorId: some.userId },
      { orgId: null, partnerId: here.world.b.partnerId, actorId: some.userId },
    ]);
    expect(await seen(ids, here.admin)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await seen(ids, some)).toEqual([1, 4]);
    expect(await seen(ids, none)).toEqual([2]);
    expect(await seen(ids, customer)).toEqual([4]);
    expect(await seen(ids, system)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("verifies a partner's chain for those who reach all of it", async () => {
    const partnerId = here.world.a.partnerId;
    const someone = [
      await partnerUser("selected", [here.world.a.orgId, here.world.a.secondOrgId]),
      await partnerUser("none"),
    ];
    for (const who of someone)
      for (const answer of [
        await send("POST", "/audit-logs/verify", { partnerId }, who),
        await read(`/anchors?partnerId=${partnerId}`, who),
      ]) {
        expect([answer.status, answer.body.code]).toEqual([403, "FULL_PARTNER_ACCESS_REQUIRED"]);
        expect(JSON.stringify(answer.body)).not.toMatch(/entriesChecked|anchorSeq/);
      }
    const [some] = someone as [SignedInUser];
    expect((await send("POST", "/audit-logs/verify", { partnerId: here.world.b.partnerId }, some)).body.code).toBe(
      "PARTNER_ACCESS_DENIED",
    );
    expect((await send("POST", "/audit-logs/verify", { orgId: here.world.a.orgId }, some)).status).toBe(200);
    expect((await send("POST", "/audit-logs/verify", { partnerId })).body.ok).toBe(true);
    const customer = await here.server.signIn({ role: "Org Admin", orgId: here.world.a.orgId });
    expect((await send("POST", "/audit-logs/verify", { partnerId }, customer)).body.code).toBe("PARTNER_ACCESS_DENIED");
  });

  it("shows callers confined to sites what is about their sites, themselves or the organization as a whole", async () => {
    const { orgId, siteId, secondSiteId } = here.world.a;
    const confined = await here.server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    const about = (siteIds: unknown) => ({ details: { siteIds }, resourceType: "device" });
    const ids = await plant([
      about([siteId]),
      about([secondSiteId]),
      about([siteId, secondSiteId]),
      about([]),
      about([here.server.services.random.uuid()]),
      { resourceType: "device" },
      { resourceType: "organization" },
      { resourceType: "policy" },
      { resourceType: "api_key" },
      { resourceType: null },
      { ...about([secondSiteId]), actorId: confined.userId },
      { resourceType: "api_key", actorId: confined.userId },
      { ...about([secondSiteId]), actorType: "api_key", actorId: confined.userId },
      { ...about("all"), resourceType: "site" },
      { ...about(null), resourceType: "organization" },
    ]);
    expect(await seen(ids, confined)).toEqual([0, 3, 6, 7, 10, 11, 14]);
    const whole = await here.server.signIn({ role: "Org Admin", orgId });
    expect(await seen(ids, whole)).toEqual(ids.map((_, at) => at));
    const total = async (who: SignedInUser) => (await read("?action=site.update&limit=1", who)).body.pagination.total;
    const all = await total(whole);
    expect(await total(confined)).toBeLessThan(all);
  });

  it("knows of which sites each change was, and keeps that when its subject moves or goes", async () => {
    const { orgId, siteId, secondSiteId } = here.world.a;
    const confined = await here.server.signIn({ role: "Org Admin", orgId, siteIds: [secondSiteId] });
    const made = async (path: string, body: object) => {
      const answer = await send("POST", path, body);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body;
    };
    const contacts = `/orgs/organizations/${orgId}/contacts`;
    const contact = await made(contacts, { name: "Moves", siteId: secondSiteId });
    const wide = await made(contacts, { name: "Everywhere" });
    const moved = await send("PATCH", `/orgs/contacts/${contact.id}`, { siteId });
    expect(moved.status, JSON.stringify(moved.body)).toBe(200);
    const site = await made("/orgs/sites", { orgId, name: "Doomed", timezone: "UTC" });
    expect((await send("DELETE", `/orgs/sites/${site.id}`)).status).toBe(200);
    const key = await made("/enrollment-keys", { orgId, siteId: secondSiteId, name: "pinned", maxUsage: 5 });
    const device = await enroll(here.server, { raw: key.key }, { hostname: "pinned-pc" });
    expect(device.status, JSON.stringify(device.body)).toBe(201);
    await send("POST", `/enrollment-keys/${key.id}/rotate`, {});
    await send("DELETE", `/enrollment-keys/${key.id}`);
    await here.server.settled();
    const { body } = await read("/logs?limit=100");
    const sitesOf = (resourceId: string) =>
      body.data
        .filter((entry: { resource: { id: string } }) => entry.resource.id === resourceId)
        .map((entry: { action: string; details: object }) => [entry.action, (entry.details as never)["siteIds"]])
        .reverse();
    const both = [siteId, secondSiteId].sort();
    expect(sitesOf(contact.id)).toEqual([
      ["contact.create", [secondSiteId]],
      ["contact.update", both],
    ]);
    expect(sitesOf(wide.id)).toEqual([["contact.create", []]]);
    expect(sitesOf(site.id)).toEqual([
      ["site.create", [site.id]],
      ["site.delete", [site.id]],
    ]);
    expect(sitesOf(key.id)).toEqual([
      ["enrollment_key.create", [secondSiteId]],
      ["enrollment_key.rotate", [secondSiteId]],
      ["enrollment_key.delete", [secondSiteId]],
    ]);
    const ofDevice: [string, string[]][] = sitesOf(device.body.deviceId);
    expect(new Set(ofDevice.map(([action]) => action))).toEqual(new Set(["device.create", "agent.enroll"]));
    for (const [, sites] of ofDevice) expect(sites).toEqual([secondSiteId]);
    const mine = (await read("/logs?limit=100", confined)).body.data.map((entry: { resource: { id: string } }) => [
      entry.resource.id,
    ]);
    expect(mine).not.toContainEqual([site.id]);
    expect(mine).toContainEqual([key.id]);
    expect(mine).toContainEqual([wide.id]);
    expect(mine.filter(([id]: [string]) => id === contact.id)).toHaveLength(1);
  });

  it("shows callers confined to sites no invitation, whatever sites it is for", async () => {
    const { orgId, siteId } = here.world.a;
    const confined = await here.server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    const roleId = builtInRoleId("Org Viewer");
    const invitation = { email: "guest@guest.example", name: "Guest", roleId, orgId, siteIds: [siteId] };
    expect((await send("POST", "/users/invite", invitation)).status).toBe(201);
    await here.server.settled();
    expect((await read("/logs?action=user.invite", confined)).body.data).toEqual([]);
    expect((await read("/logs?action=user.invite")).body.data).toMatchObject([
      { details: { email: "guest@guest.example", memberSiteIds: [siteId] } },
    ]);
    const older = { orgId, resourceType: "user", details: { siteIds: [siteId] } };
    const ids = await plant([older, { ...older, resourceType: null }]);
    expect(await seen(ids, confined)).toEqual([1]);
    expect(await seen(ids, here.admin)).toEqual([0, 1]);
  });

  it("places no refused change of a device at a site that was only named", async () => {
    const { orgId, siteId } = here.world.a;
    const [id] = (await makeDevices(here.server, [{ orgId, siteId, hostname: "till", status: "decommissioned" }])) as [
      string,
    ];
    const refused = await send("PATCH", `/devices/${id}`, { siteId: here.world.b.siteId });
    expect([refused.status, refused.body.code]).toEqual([409, "ALREADY_DECOMMISSIONED"]);
    const [entry] = await auditOf(here.server, ({ resourceId }) => resourceId === id);
    expect(entry).toMatchObject({ result: "failure", details: { siteIds: [siteId] } });
    const setStatus = (status: "active" | "suspended") =>
      here.server.db.updateTable("organizations").set({ status }).where("id", "=", orgId).execute();
    const named = { orgId, siteId: here.world.b.siteId };
    await setStatus("suspended");
    const provisioned = await send("POST", "/devices/provision", { ...named, hostname: "never", osType: "linux" });
    const keyed = await send("POST", "/enrollment-keys", { ...named, name: "never", maxUsage: 1 });
    await setStatus("active");
    for (const answer of [provisioned, keyed]) expect(answer.body.code).toBe("ORG_SUSPENDED");
    const refusals = () => auditOf(here.server, ({ resourceName }) => resourceName === "never");
    await expect.poll(async () => (await refusals()).length).toBe(2);
    expect(JSON.stringify(await refusals())).not.toContain(here.world.b.siteId);
  });

  it("shows callers confined to sites nothing of a device that stands at no site", async () => {
    const { orgId, siteId } = here.world.a;
    const confined = await here.server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    const status = "decommissioned";
    const [id] = (await makeDevices(here.server, [{ orgId, siteId: null, hostname: "nowhere", status }])) as [string];
    expect((await send("PATCH", `/devices/${id}`, { tags: ["x"] })).status).toBe(409);
    const [entry] = await auditOf(here.server, ({ resourceId }) => resourceId === id);
    expect(entry?.details).not.toHaveProperty("siteIds");
    await here.server.settled();
    expect((await read("/logs?resource=nowhere")).body.data).toHaveLength(1);
    expect((await read("/logs?resource=nowhere", confined)).body.data).toEqual([]);
  });

  it("lists and verifies what was recorded of a deleted organization, for its partner and system scope", async () => {
    const org = (await send("POST", "/orgs/organizations", { name: "Gone", slug: "gone" })).body;
    const some = await partnerUser("selected", [org.id]);
    const others = await partnerUser("selected", [here.world.a.orgId]);
    const stranger = await here.server.signIn({ role: "Partner Admin", partnerId: here.world.b.partnerId });
    expect((await send("DELETE", `/orgs/organizations/${org.id}`)).status).toBe(200);
    await here.server.settled();
    const actions = ["organization.delete", "organization.create"];
    for (const who of [here.admin, system, some]) {
      const listed = await read(`/logs?orgId=${org.id}`, who);
      expect(listed.status, JSON.stringify(listed.body)).toBe(200);
      expect(listed.body.data.map((entry: { action: string }) => entry.action)).toEqual(
        expect.arrayContaining(actions),
      );
      const verified = await send("POST", "/audit-logs/verify", { orgId: org.id }, who);
      expect([verified.status, verified.body.ok]).toEqual([200, true]);
      expect((await read(`/anchors?orgId=${org.id}`, who)).status).toBe(200);
    }
    const customer = await here.server.signIn({ role: "Org Admin", orgId: here.world.a.orgId });
    for (const who of [others, stranger, customer]) {
      expect((await read(`/logs?orgId=${org.id}`, who)).body.code).toBe("ORG_ACCESS_DENIED");
      expect((await send("POST", "/audit-logs/verify", { orgId: org.id }, who)).body.code).toBe("ORG_ACCESS_DENIED");
      expect((await read("/logs?resource=Gone", who)).body.data).toEqual([]);
    }
    const unknown = here.server.services.random.uuid();
    expect((await read(`/logs?orgId=${unknown}`)).body.code).toBe("ORG_ACCESS_DENIED");
  });
});
