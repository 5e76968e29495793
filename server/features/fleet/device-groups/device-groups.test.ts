import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainGroup } from "#fixtures/nouns/fleet/device-groups";
import { seedTenant, type Tenant } from "#fixtures/world";
import { after, DAY } from "#server/platform/clock";
import { makeDevices } from "../../../test/devices.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { evaluateDue } from "./due.ts";
import { forgetLog } from "./forget-log.ts";
import { GROUPS_MAX } from "./rules.ts";

describe.each(databases)("device groups on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;
  /** Of the first organization. */
  let depot: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    depot = (await send("POST", "/orgs/sites", { orgId: acme.orgId, name: "Depot" })).body.id;
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, as = token) =>
    server.request(method, path, { token: as, ...(body ? { body } : {}) });
  const create = (body: object, as?: string) => send("POST", "/groups", { orgId: acme.orgId, ...body }, as);
  const made = async (body: object) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const devices = (count: number, change: object = {}) =>
    makeDevices(
      server,
      Array.from({ length: count }, (_, at) => ({
        ...{ orgId: acme.orgId, siteId: acme.siteId, hostname: `till-${at}`, ...change },
      })),
    );
  const membersOf = async (id: string) => {
    const rows = server.db.selectFrom("deviceGroupMembers").select("deviceId").where("groupId", "=", id);
    return (await rows.execute()).map(({ deviceId }) => deviceId).toSorted();
  };
  const logOf = async (id: string) => {
    const { body } = await send("GET", `/groups/${id}/membership-log`);
    return body.data.map(({ deviceId, action, reason }: Record<string, string>) => [deviceId, action, reason]);
  };
  const refused = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body.code];

  it("hold the devices that people put into them, and say who came and went", async () => {
    const [one, two, three] = (await devices(3)) as [string, string, string];
    const group = await made({ name: "Front", description: "By the door", deviceIds: [one, one] });
    expect(group).toMatchObject({
      ...{ orgId: acme.orgId, siteId: null, name: "Front", description: "By the door", type: "static" },
      ...{ filterConditions: null, filterFieldsUsed: [], parentId: null, deviceCount: 1 },
    });
    const added = await send("POST", `/groups/${group.id}/devices`, { deviceIds: [one, two, three, three] });
    expect([added.status, added.body]).toEqual([201, { added: 2, skipped: 1, total: 3 }]);
    const list = await send("GET", `/groups/${group.id}/devices?limit=2`);
    expect(list.body.pagination).toMatchObject({ total: 3, limit: 2 });
    expect(list.body.data[0]).toMatchObject({
      isPinned: false,
      addedBy: "manual",
      osType: "windows",
      status: "online",
    });
    expect((await send("DELETE", `/groups/${group.id}/devices/${two}`)).body).toEqual({ success: true });
    expect(refused(await send("DELETE", `/groups/${group.id}/devices/${two}`))).toEqual([404, "NOT_FOUND"]);
    expect(await membersOf(group.id)).toEqual([one, three].toSorted());
    const log = await logOf(group.id);
    expect(log[0]).toEqual([two, "removed", "manual"]);
    expect(log.slice(1).toSorted()).toEqual([one, two, three].map((id) => [id, "added", "manual"]).toSorted());
    const removed = await send("GET", `/groups/${group.id}/membership-log?action=removed&deviceId=${two}`);
    expect(removed.body.data).toMatchObject([{ hostname: "till-1", displayName: null, groupId: group.id }]);
    const told = (await eventsOf(server.db, group.id)).map(({ kind, data }) => [kind, data]);
    expect(told).toMatchObject([
      ["group.membership_changed", { groupName: "Front", added: 1, removed: 0, addedDeviceIds: [one] }],
      ["group.membership_changed", { added: 2, removed: 0 }],
      ["group.membership_changed", { added: 0, removed: 1, removedDeviceIds: [two] }],
    ]);
  });

  it("take no device of another organization or site, nor one out of service, and then none at all", async () => {
    const [mine] = (await devices(1)) as [string];
    const [away] = (await devices(1, { siteId: depot })) as [string];
    const [gone] = (await devices(1, { status: "decommissioned" })) as [string];
    const unknown = server.services.random.uuid();
    const group = await made({ name: "Of the shop", siteId: acme.siteId });
    for (const foreign of [away, gone, other.deviceId, unknown]) {
      const answer = await send("POST", `/groups/${group.id}/devices`, { deviceIds: [mine, foreign] });
      expect([...refused(answer), answer.body.details]).toEqual([400, "DEVICE_NOT_IN_ORG", { deviceIds: [foreign] }]);
    }
    expect(await membersOf(group.id)).toEqual([]);
    expect(refused(await create({ name: "None", deviceIds: [other.deviceId] }))).toEqual([400, "DEVICE_NOT_IN_ORG"]);
    expect((await send("GET", `/groups?orgId=${acme.orgId}&search=None`)).body.total).toBe(0);
    expect(refused(await create({ name: "None", siteId: other.siteId }))).toEqual([400, "SITE_NOT_IN_ORG"]);
  });

  it("have names that are theirs alone in the organization, without case", async () => {
    const { id } = await made({ name: "Büro Süd" });
    expect(refused(await create({ name: "BÜRO SÜD" }))).toEqual([409, "NAME_TAKEN"]);
    const second = await made({ name: "Büro Nord" });
    expect(refused(await send("PATCH", `/groups/${second.id}`, { name: "büro süd" }))).toEqual([409, "NAME_TAKEN"]);
    expect((await send("PATCH", `/groups/${id}`, { name: "BÜRO SÜD" })).body.name).toBe("BÜRO SÜD");
    expect((await create({ name: "Büro Süd", orgId: acme.secondOrgId })).status).toBe(201);
    const found = await send("GET", `/groups?orgId=${acme.orgId}&search=ÜRO s`);
    expect(found.body).toMatchObject({ data: [{ id }], total: 1 });
    expect(refused(await send("PATCH", `/groups/${id}`, {}))).toEqual([400, "NO_UPDATES"]);
    const burst = await Promise.all(Array.from({ length: 5 }, () => create({ name: "At once" })));
    expect(burst.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
  });

  it("stand under each other without a circle, whoever changes them at the same moment", async () => {
    const [a, b] = [await made({ name: "Tree A" }), await made({ name: "Tree B" })];
    const under = (id: string, parentId: string | null) => send("PATCH", `/groups/${id}`, { parentId });
    for (let turn = 0; turn < 5; turn += 1) {
      const both = await Promise.all([under(a.id, b.id), under(b.id, a.id)]);
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      expect(both.find(({ status }) => status === 400)?.body.code).toBe("INVALID_PARENT");
      await Promise.all([under(a.id, null), under(b.id, null)]);
    }
    await under(b.id, a.id);
    const listed = await send("GET", `/groups?orgId=${acme.orgId}&parentId=${a.id}`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([b.id]);
    const answer = await send("DELETE", `/groups/${a.id}`);
    expect([...refused(answer), answer.body.details]).toEqual([409, "HAS_CHILDREN", { groupIds: [b.id] }]);
    expect(refused(await create({ name: "Deep", parentId: other.deviceGroupId }))).toEqual([400, "INVALID_PARENT"]);
    const next = await create({ name: "Deep", orgId: acme.secondOrgId, parentId: a.id });
    expect(refused(next)).toEqual([400, "INVALID_PARENT"]);
    expect((await send("DELETE", `/groups/${b.id}`)).status).toBe(200);
    expect((await send("DELETE", `/groups/${a.id}`)).status).toBe(200);
  });

  it("lose the devices of other sites when they get a site", async () => {
    const [mine] = (await devices(1)) as [string];
    const [away] = (await devices(1, { siteId: depot })) as [string];
    const group = await made({ name: "Was everywhere", deviceIds: [mine, away] });
    const changed = await send("PATCH", `/groups/${group.id}`, { siteId: acme.siteId });
    expect(changed.body).toMatchObject({ siteId: acme.siteId, deviceCount: 1 });
    expect(await membersOf(group.id)).toEqual([mine]);
    expect((await logOf(group.id))[0]).toEqual([away, "removed", "filter_unmatch"]);
  });

  it("are left by a device that changes its site, its organization, or goes out of service", async () => {
    const [shop, all] = [await made({ name: "Shop", siteId: acme.siteId }), await made({ name: "All" })];
    const [moving, leaving, gone, kept] = (await devices(4)) as [string, string, string, string];
    for (const { id } of [shop, all])
      await send("POST", `/groups/${id}/devices`, { deviceIds: [moving, leaving, gone, kept] });
    expect((await send("PATCH", `/devices/${moving}`, { siteId: depot })).status).toBe(200);
    expect((await logOf(shop.id))[0]).toEqual([moving, "removed", "manual"]);
    const site = await send("POST", "/orgs/sites", { orgId: acme.secondOrgId, name: "Annex" });
    const to = { orgId: acme.secondOrgId, siteId: site.body.id };
    expect((await send("POST", `/devices/${leaving}/move-org`, to)).status).toBe(200);
    expect((await logOf(all.id))[0]).toEqual([null, "removed", "manual"]);
    expect((await send("DELETE", `/devices/${gone}`)).status).toBe(200);
    const quarantined = { quarantined: true, quarantinedReason: "odd" };
    expect((await send("PATCH", `/devices/${kept}`, quarantined)).status).toBe(200);
    expect(await membersOf(shop.id)).toEqual([kept]);
    expect(await membersOf(all.id)).toEqual([moving, kept].toSorted());
  });

  it("go with their site, and the devices of others stay", async () => {
    const site = (await send("POST", "/orgs/sites", { orgId: acme.orgId, name: "Closing" })).body.id;
    const over = await made({ name: "Closing, all", siteId: site });
    const under = await made({ name: "Closing, some", siteId: site, parentId: over.id });
    const beside = await made({ name: "Stays" });
    expect((await send("DELETE", `/orgs/sites/${site}`)).status).toBe(200);
    const left = await server.db.selectFrom("deviceGroups").select("id").where("name", "in", ["Stays"]).execute();
    expect(left).toEqual([{ id: beside.id }]);
    for (const { id } of [over, under]) expect((await send("GET", `/groups/${id}`)).status).toBe(404);
  });

  it("narrow the list of devices, and are told of by each of them", async () => {
    const [one, two] = (await devices(2)) as [string, string];
    const [a, b] = [
      await made({ name: "Narrow A", deviceIds: [one] }),
      await made({ name: "Narrow B", deviceIds: [two] }),
    ];
    const listed = async (query: string) => {
      const { body } = await send("GET", `/devices?${query}`);
      return (body.devices ?? body.data).map(({ id }: { id: string }) => id).toSorted();
    };
    expect(await listed(`groupIds=${a.id}`)).toEqual([one]);
    expect(await listed(`groupIds=${a.id},${b.id}&cursor=`)).toEqual([one, two].toSorted());
    expect(await listed(`groupIds=${a.id},${server.services.random.uuid()}`)).toEqual([one]);
    expect(await listed(`groupIds=${other.deviceGroupId}`)).toEqual([]);
    const { groups } = (await send("GET", `/devices/${one}`)).body;
    expect(groups).toEqual([{ groupId: a.id, name: "Narrow A", type: "static", isPinned: false }]);
  });

  it("are listed with their devices for one organization", async () => {
    expect(refused(await send("GET", "/groups?includeMemberships=true"))).toEqual([400, "VALIDATION_ERROR"]);
    const [one] = (await devices(1)) as [string];
    const group = await made({ name: "Listed with", deviceIds: [one] });
    const path = `/groups?orgId=${acme.orgId}&includeMemberships=true&search=Listed with`;
    expect((await send("GET", path)).body.data).toMatchObject([{ id: group.id, deviceIds: [one], deviceCount: 1 }]);
    expect((await send("GET", `/groups?orgId=${acme.orgId}`)).body.data[0]).not.toHaveProperty("deviceIds");
  });

  it("of other sites are out of reach for people confined to one, before and after a change", async () => {
    const confined = await server.signIn({ role: "Org Technician", orgId: acme.orgId, siteIds: [acme.siteId] });
    const as = confined.token;
    const all = await made({ name: "Not theirs" });
    const away = await made({ name: "Not theirs either", siteId: depot });
    const mine = await made({ name: "Theirs", siteId: acme.siteId, parentId: all.id });
    const listed = (await send("GET", "/groups", undefined, as)).body.data.map(({ id }: { id: string }) => id);
    expect(listed).toContain(mine.id);
    for (const { id } of [all, away]) {
      expect(listed).not.toContain(id);
      for (const [method, path, body] of [
        ["GET", `/groups/${id}`, undefined],
        ["GET", `/groups/${id}/devices`, undefined],
        ["GET", `/groups/${id}/membership-log`, undefined],
        ["PATCH", `/groups/${id}`, { name: "Taken over" }],
        ["POST", `/groups/${id}/devices`, { deviceIds: [acme.deviceId] }],
        ["DELETE", `/groups/${id}/devices/${acme.deviceId}`, undefined],
        ["DELETE", `/groups/${id}`, undefined],
      ] as const)
        expect(refused(await send(method, path, body, as)), `${method} ${path}`).toEqual([403, "SITE_ACCESS_DENIED"]);
    }
    for (const siteId of [null, depot])
      expect(refused(await send("PATCH", `/groups/${mine.id}`, { siteId }, as))).toEqual([403, "SITE_ACCESS_DENIED"]);
    for (const siteId of [undefined, depot])
      expect(refused(await create({ name: "New", siteId }, as))).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect((await create({ name: "New", siteId: acme.siteId }, as)).status).toBe(201);
    expect(refused(await create({ name: "not THEIRS", siteId: acme.siteId }, as))).toEqual([409, "NAME_TAKEN"]);
    const [foreign] = (await devices(1, { siteId: depot })) as [string];
    const answer = await send("POST", `/groups/${mine.id}/devices`, { deviceIds: [foreign] }, as);
    expect(refused(answer)).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect((await send("GET", `/groups/${mine.id}`, undefined, as)).body).toMatchObject({
      name: "Theirs",
      deviceCount: 0,
    });
  });

  it("tell nobody by a condition who is in a group that they do not see", async () => {
    const { token: as } = await server.signIn({ role: "Org Technician", orgId: acme.orgId, siteIds: [acme.siteId] });
    const [one, two] = (await devices(2)) as [string, string];
    const wide = await made({ name: "Of all sites", deviceIds: [one] });
    const mine = await made({ name: "Of their site", siteId: acme.siteId, deviceIds: [two] });
    for (const [operator, value] of [
      ["in", [wide.id, mine.id]],
      ["in", [wide.id.toUpperCase(), mine.id.toUpperCase()]],
    ]) {
      const conditions = { operator: "AND", conditions: [{ field: "groupId", operator, value }] };
      const found = async (token: string) => {
        const preview = await send("POST", "/filters/preview", { conditions }, token);
        const query = await send("POST", "/devices/query", { conditions }, token);
        const ids = [preview.body.data.devices, query.body.devices].map((rows: { id: string }[]) =>
          rows.map(({ id }) => id).toSorted(),
        );
        return [preview.body.data.totalCount, ...ids];
      };
      expect(await found(as)).toEqual([1, [two], [two]]);
      expect(await found(token)).toEqual([2, [one, two].toSorted(), [one, two].toSorted()]);
    }
  });

  it("follow the defaults of custom fields that are of one system alone", async () => {
    const field = {
      name: "Channel",
      fieldKey: "channel",
      type: "text",
      defaultValue: "stable",
      deviceTypes: ["linux"],
    };
    expect((await send("POST", "/custom-fields", { orgId: acme.orgId, ...field })).status).toBe(201);
    const [id] = (await devices(1, { osType: "windows" })) as [string];
    const condition = { field: "custom.channel", operator: "equals", value: "stable" };
    const filterConditions = { operator: "AND", conditions: [condition] };
    const group = await made({ name: "Stable", type: "dynamic", filterConditions });
    await evaluateDue(server.services);
    const becomes = async (osType: "windows" | "linux") => {
      await server.db.updateTable("devices").set({ osType }).where("id", "=", id).execute();
      await evaluateDue(server.services);
      return (await membersOf(group.id)).includes(id);
    };
    expect(await becomes("linux")).toBe(true);
    expect(await becomes("windows")).toBe(false);
  });

  it.runIf(database === "postgres")("of a site keep no device that gets another one at the same moment", async () => {
    const [one, two] = (await devices(2)) as [string, string];
    const group = await made({ name: "Getting a site", deviceIds: [one, two] });
    let change: ReturnType<typeof send> | undefined;
    await server.db.transaction().execute(async (tx) => {
      await tx.updateTable("devices").set({ siteId: depot }).where("id", "=", one).execute();
      change = send("PATCH", `/groups/${group.id}`, { siteId: acme.siteId });
      await pause(500);
    });
    expect((await change)?.status).toBe(200);
    expect(await membersOf(group.id)).toEqual([two]);
  });

  it("are at most 500 in an organization, however many are made at once", async () => {
    const tenant = await seedTenant(server.db, server.services, "many");
    const { token: as } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    const before = await server.db.selectFrom("deviceGroups").select("id").where("orgId", "=", tenant.orgId).execute();
    const rows = Array.from({ length: GROUPS_MAX - 2 - before.length }, (_, at) => ({
      ...plainGroup(server.clock.now()),
      ...{ id: server.services.random.uuid(), orgId: tenant.orgId, name: `Group ${at}`, nameKey: `group ${at}` },
    }));
    await server.db.insertInto("deviceGroups").values(rows).execute();
    const burst = await Promise.all(
      Array.from({ length: 6 }, (_, at) => create({ orgId: tenant.orgId, name: `More ${at}` }, as)),
    );
    expect(burst.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(burst.filter(({ body }) => body.code === "LIMIT_REACHED")).toHaveLength(4);
  });

  it("are deleted while devices are added, with every membership and entry", async () => {
    const ids = await devices(5);
    for (let turn = 0; turn < 5; turn += 1) {
      const { id } = await made({ name: `Going ${turn}` });
      const adding = ids.map((deviceId) => send("POST", `/groups/${id}/devices`, { deviceIds: [deviceId] }));
      const [removed, ...added] = await Promise.all([send("DELETE", `/groups/${id}`), ...adding]);
      expect(removed?.status).toBe(200);
      for (const { status } of added) expect([201, 404]).toContain(status);
      expect(await membersOf(id)).toEqual([]);
    }
    expect(
      (await server.db.selectFrom("deviceGroups").select("id").where("name", "like", "Going%").execute()).length,
    ).toBe(0);
  });

  it("forget who came and went after 90 days", async () => {
    const group = await made({ name: "Old", deviceIds: await devices(2) });
    const entries = server.db.updateTable("deviceGroupLog").where("groupId", "=", group.id);
    const { id } = (await send("GET", `/groups/${group.id}/membership-log`)).body.data[0];
    await entries
      .set({ createdAt: after(server.clock.now(), -91 * DAY) } as never)
      .where("id", "=", id)
      .execute();
    expect(await forgetLog(server.services)).toBeGreaterThanOrEqual(1);
    const left = (await send("GET", `/groups/${group.id}/membership-log`)).body.data;
    expect(left).toHaveLength(1);
    expect(left[0].id).not.toBe(id);
  });
});
