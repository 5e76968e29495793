import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { asSystem } from "#server/db/as-system";
import { after, HOUR, MINUTE } from "#server/platform/clock";
import { auditOf } from "../../../test/audit-of.ts";
import { makeDevices } from "../../../test/devices.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { evaluateDue } from "./due.ts";
import { evaluate } from "./evaluate.ts";
import { findEvaluable } from "./queries.ts";
import { sweepGroups } from "./sweep-groups.ts";
import { targetedDevices } from "./targets.ts";

type Part = { field: string; operator: string; value?: unknown };
const all = (...conditions: (Part | object)[]) => ({ operator: "AND", conditions });
const tagged = (...tags: string[]) => all({ field: "tags", operator: "hasAny", value: tags });

describe.each(databases)("dynamic groups on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;
  let depot: string;
  let number = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    await signInAgain();
    depot = (await send("POST", "/orgs/sites", { orgId: acme.orgId, name: "Depot" })).body.id;
  });
  afterAll(() => server?.stop());

  /** Somebody else for each test, who has looked at no devices yet; also where the clock has gone past the end of tokens. */
  const signInAgain = async () => {
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  };
  beforeEach(signInAgain);
  const send = (method: string, path: string, body?: object, as = token) =>
    server.request(method, path, { token: as, ...(body ? { body } : {}) });
  const create = (filterConditions: object | null, more: object = {}, as?: string) => {
    number += 1;
    const body = { orgId: acme.orgId, name: `Dynamic ${number}`, type: "dynamic", filterConditions, ...more };
    return send("POST", "/groups", body, as);
  };
  const made = async (filter: object, more: object = {}) => {
    const answer = await create(filter, more);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const device = async (change: object = {}) =>
    (await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId, hostname: "till", ...change }]))[0] as string;
  const membersOf = async (id: string) => {
    const rows = server.db.selectFrom("deviceGroupMembers").select("deviceId").where("groupId", "=", id);
    return (await rows.execute()).map(({ deviceId }) => deviceId).toSorted();
  };
  const logOf = async (id: string) => {
    const { body } = await send("GET", `/groups/${id}/membership-log`);
    return body.data.map(({ deviceId, action, reason }: Record<string, string>) => [deviceId, action, reason]);
  };
  const refused = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body.code];
  const due = async () =>
    (await server.db.selectFrom("deviceGroupDue").select(["deviceId", "field"]).execute()) as object[];
  const settle = async () => {
    await evaluateDue(server.services);
    expect(await due()).toEqual([]);
  };
  /** As an evaluation begins with it. */
  const evaluable = async (id: string) => {
    const group = await findEvaluable(asSystem(server.services, "evaluate device groups"), id);
    return group as NonNullable<typeof group>;
  };

  it("hold every device of the organization that matches, from the start", async () => {
    const [one, two] = [await device({ tags: ["start"] }), await device({ tags: ["start"], siteId: depot })];
    await device({ tags: ["start"], status: "decommissioned" });
    await makeDevices(server, [{ orgId: other.orgId, siteId: other.siteId, tags: ["start"] }]);
    const group = await made(tagged("start"));
    expect(group).toMatchObject({
      type: "dynamic",
      deviceCount: 2,
      filterFieldsUsed: ["tags"],
      filterConditions: tagged("start"),
    });
    expect(await membersOf(group.id)).toEqual([one, two].toSorted());
    expect((await logOf(group.id)).toSorted()).toEqual(
      [one, two].toSorted().map((id) => [id, "added", "filter_match"]),
    );
    const [event] = await eventsOf(server.db, group.id);
    expect(event).toMatchObject({
      kind: "group.membership_changed",
      orgId: acme.orgId,
      data: { added: 2, removed: 0 },
    });
    expect((event?.data["addedDeviceIds"] as string[] | undefined)?.toSorted()).toEqual([one, two].toSorted());
    const shown = await send("GET", `/groups/${group.id}`);
    expect(shown.body).toMatchObject({ lastEvaluatedAt: server.clock.now(), lastEvaluationError: null });
    const ofSite = await made(tagged("start"), { siteId: depot });
    expect(await membersOf(ofSite.id)).toEqual([two]);
    const list = await send("GET", `/groups/${ofSite.id}/devices`);
    expect(list.body.data).toMatchObject([{ deviceId: two, addedBy: "dynamic_rule", isPinned: false }]);
  });

  it("need conditions that hold good, which static groups never have", async () => {
    expect(refused(await create(null))).toEqual([400, "FILTER_REQUIRED"]);
    expect(refused(await create(tagged("x"), { type: "static" }))).toEqual([400, "FILTER_NOT_ALLOWED"]);
    expect(refused(await create(tagged("x"), { deviceIds: [acme.deviceId] }))).toEqual([400, "DYNAMIC_GROUP"]);
    const wrong = await create(all({ field: "hostname", operator: "hasAny", value: ["x"] }));
    expect(refused(wrong)).toEqual([400, "FILTER_OPERATOR_NOT_ALLOWED"]);
    expect(wrong.body.details.errors[0]).toMatchObject({ path: "conditions[0]", field: "hostname" });
    const long = Array.from({ length: 90 }, (_, at) => `${at}${"x".repeat(990)}`);
    expect(refused(await create(all({ field: "hostname", operator: "in", value: long })))).toEqual([
      422,
      "LIMIT_REACHED",
    ]);
    const group = await made(tagged("x"));
    expect(refused(await send("PATCH", `/groups/${group.id}`, { filterConditions: null }))).toEqual([
      400,
      "FILTER_REQUIRED",
    ]);
    expect(refused(await send("POST", `/groups/${group.id}/devices`, { deviceIds: [acme.deviceId] }))).toEqual([
      400,
      "DYNAMIC_GROUP",
    ]);
    expect(refused(await send("DELETE", `/groups/${group.id}/devices/${acme.deviceId}`))).toEqual([
      400,
      "DYNAMIC_GROUP",
    ]);
    const fixed = await send("POST", "/groups", { orgId: acme.orgId, name: "Fixed" });
    expect(refused(await send("PATCH", `/groups/${fixed.body.id}`, { filterConditions: tagged("x") }))).toEqual([
      400,
      "FILTER_NOT_ALLOWED",
    ]);
    expect((await send("GET", `/groups/${fixed.body.id}`)).body.filterConditions).toBeNull();
  });

  it("follow other conditions and another site at once, with one event", async () => {
    const [red, both, blue] = [
      await device({ tags: ["red"] }),
      await device({ tags: ["red", "blue"] }),
      await device({ tags: ["blue"], siteId: depot }),
    ];
    const group = await made(tagged("red"));
    await send("PATCH", `/groups/${group.id}`, { filterConditions: tagged("blue"), name: "Blue ones" });
    expect(await membersOf(group.id)).toEqual([both, blue].toSorted());
    expect((await logOf(group.id)).slice(0, 2).toSorted()).toEqual(
      [
        [blue, "added", "filter_match"],
        [red, "removed", "filter_unmatch"],
      ].toSorted(),
    );
    const events = await eventsOf(server.db, group.id);
    expect(events).toHaveLength(2);
    expect(events[1]?.data).toMatchObject({
      groupName: "Blue ones",
      added: 1,
      removed: 1,
      addedDeviceIds: [blue],
      removedDeviceIds: [red],
    });
    await send("PATCH", `/groups/${group.id}`, { siteId: depot });
    expect(await membersOf(group.id)).toEqual([blue]);
    await send("PATCH", `/groups/${group.id}`, { siteId: null });
    expect(await membersOf(group.id)).toEqual([both, blue].toSorted());
  });

  it("are looked at again when something changes that they speak of, whoever changed it", async () => {
    const id = await device({ tags: [], hostname: "before", customFields: {} });
    const { orgId } = acme;
    await send("POST", "/custom-fields", { orgId, fieldKey: "rack", name: "Rack", type: "text" });
    const holds = all({
      field: "groupId",
      operator: "equals",
      value: (await send("POST", "/groups", { orgId, name: "Chosen" })).body.id,
    });
    const chosen = holds.conditions[0] as { value: string };
    const db = server.db;
    const where = { orgId, deviceId: id };
    const software = {
      id: server.services.random.uuid(),
      ...where,
      name: "Chrome",
      version: null,
      vendor: null,
      installDate: null,
      installLocation: null,
      uninstallString: null,
    };
    const cases: [object, () => Promise<unknown>][] = [
      [tagged("new"), () => send("PATCH", `/devices/${id}`, { tags: ["new"] })],
      [
        all({ field: "displayName", operator: "equals", value: "Desk" }),
        () => send("PATCH", `/devices/${id}`, { displayName: "Desk" }),
      ],
      [
        all({ field: "status", operator: "equals", value: "maintenance" }),
        () => send("PATCH", `/devices/${id}`, { maintenance: true }),
      ],
      [
        all({ field: "custom.rack", operator: "equals", value: "A" }),
        () => send("PATCH", `/devices/${id}/custom-fields`, { rack: "A" }),
      ],
      [
        all({ field: "hostname", operator: "equals", value: "after" }),
        () => db.updateTable("devices").set({ hostname: "after" }).where("id", "=", id).execute(),
      ],
      [
        all({ field: "system.rebootRequired", operator: "equals", value: true }),
        () => db.updateTable("devices").set({ pendingReboot: true }).where("id", "=", id).execute(),
      ],
      [
        all({ field: "hardware.model", operator: "equals", value: "X1" }),
        () =>
          db
            .insertInto("deviceHardware")
            .values({ ...where, ...noHardware, model: "X1", updatedAt: server.clock.now() })
            .execute(),
      ],
      [
        all({ field: "network.ipAddress", operator: "equals", value: "10.9.9.9" }),
        () =>
          db
            .insertInto("deviceInterfaces")
            .values({
              id: server.services.random.uuid(),
              ...where,
              interfaceName: "eth0",
              macAddress: null,
              ipAddress: "10.9.9.9",
              subnetMask: null,
              publicIp: null,
              isPrimaryInterface: true,
            })
            .execute(),
      ],
      [
        all({ field: "software.installed", operator: "contains", value: "chrome" }),
        async () => {
          await db
            .insertInto("deviceSoftwareReports")
            .values({ ...where, firstReportedAt: server.clock.now() })
            .execute();
          await db.insertInto("deviceSoftware").values(software).execute();
        },
      ],
      [holds, () => send("POST", `/groups/${chosen.value}/devices`, { deviceIds: [id] })],
    ];
    for (const [filter, change] of cases) {
      const group = await made(filter);
      await settle();
      expect(await membersOf(group.id), JSON.stringify(filter)).toEqual([]);
      await change();
      expect(await due(), JSON.stringify(filter)).not.toEqual([]);
      await settle();
      expect(await membersOf(group.id), JSON.stringify(filter)).toEqual([id]);
    }
    await db.deleteFrom("deviceSoftware").where("id", "=", software.id).execute();
    await send("DELETE", `/groups/${chosen.value}/devices/${id}`);
    await settle();
    const left = (await send("GET", `/devices/${id}`)).body.groups;
    expect(left).toHaveLength(cases.length - 2);
  });

  it("take in who enrolls, moves in or comes to their site, and let go who leaves", async () => {
    const everywhere = await made(all({ field: "osType", operator: "equals", value: "macos" }));
    const ofDepot = await made(all({ field: "osType", operator: "equals", value: "macos" }), { siteId: depot });
    await settle();
    const id = await device({ osType: "macos" });
    await settle();
    expect([await membersOf(everywhere.id), await membersOf(ofDepot.id)]).toEqual([[id], []]);
    await send("PATCH", `/devices/${id}`, { siteId: depot });
    await settle();
    expect([await membersOf(everywhere.id), await membersOf(ofDepot.id)]).toEqual([[id], [id]]);
    const site = (await send("POST", "/orgs/sites", { orgId: acme.secondOrgId, name: "Away" })).body.id;
    const away = await made(all({ field: "osType", operator: "equals", value: "macos" }), { orgId: acme.secondOrgId });
    await settle();
    expect((await send("POST", `/devices/${id}/move-org`, { orgId: acme.secondOrgId, siteId: site })).status).toBe(200);
    await settle();
    expect([await membersOf(everywhere.id), await membersOf(ofDepot.id), await membersOf(away.id)]).toEqual([
      [],
      [],
      [id],
    ]);
    expect((await send("DELETE", `/devices/${id}`)).status).toBe(200);
    await settle();
    expect(await membersOf(away.id)).toEqual([]);
  });

  it("cost a heartbeat nothing that changes nothing they speak of", async () => {
    await made(
      all(
        { field: "lastSeenAt", operator: "withinLast", value: { amount: 5, unit: "minutes" } },
        { field: "hostname", operator: "equals", value: "x" },
      ),
    );
    const id = await device();
    await settle();
    const now = after(server.clock.now(), 1_000);
    const beat = { lastSeenAt: now, uptimeSeconds: 5, status: "online" as const, hostname: "till", updatedAt: now };
    await server.db.updateTable("devices").set(beat).where("id", "=", id).execute();
    expect(await due()).toEqual([]);
    const [elsewhere] = await makeDevices(server, [{ orgId: other.orgId, siteId: other.siteId }]);
    await server.db
      .updateTable("devices")
      .set({ hostname: "new" })
      .where("id", "=", elsewhere as string)
      .execute();
    expect((await due()).length).toBeLessThanOrEqual(1);
    await settle();
  });

  it("keep pinned devices, and let them go once they are unpinned", async () => {
    const [in_, out] = [await device({ tags: ["pin"] }), await device()];
    const group = await made(tagged("pin"));
    const pin = (id: string) => `/groups/${group.id}/devices/${id}/pin`;
    const answer = await send("POST", pin(out));
    expect([answer.status, answer.body]).toEqual([201, { groupId: group.id, deviceId: out, isPinned: true }]);
    expect((await send("POST", pin(out))).status).toBe(201);
    expect((await send("POST", pin(in_))).status).toBe(201);
    expect((await logOf(group.id)).filter(([, , reason]: string[]) => reason === "pinned")).toEqual([
      [out, "added", "pinned"],
    ]);
    await evaluate(server.services, await evaluable(group.id));
    expect(await membersOf(group.id)).toEqual([in_, out].toSorted());
    expect((await send("DELETE", pin(in_))).body).toEqual({
      groupId: group.id,
      deviceId: in_,
      isPinned: false,
      removed: false,
    });
    expect((await send("DELETE", pin(out))).body).toEqual({
      groupId: group.id,
      deviceId: out,
      isPinned: false,
      removed: true,
    });
    expect(await membersOf(group.id)).toEqual([in_]);
    expect((await logOf(group.id))[0]).toEqual([out, "removed", "unpinned"]);
    expect(
      (await eventsOf(server.db, group.id)).map(({ data }) => [data["addedDeviceIds"], data["removedDeviceIds"]]),
    ).toEqual([
      [[in_], []],
      [[out], []],
      [[], [out]],
    ]);
    const entries = await auditOf(server, (entry) => entry.resourceId === group.id);
    expect(entries.map(({ action, details }) => [action, details?.["deviceId"]])).toEqual([
      ["device_group.create", undefined],
      ...[out, out, in_].map((id) => ["device_group.device.pin", id]),
      ...[in_, out].map((id) => ["device_group.device.unpin", id]),
    ]);
    expect(refused(await send("DELETE", pin(out)))).toEqual([404, "NOT_FOUND"]);
    expect(refused(await send("DELETE", pin(in_)))).toEqual([400, "NOT_PINNED"]);
    expect(refused(await send("POST", pin(other.deviceId)))).toEqual([404, "NOT_FOUND"]);
    expect(refused(await send("POST", `/groups/${acme.deviceGroupId}/devices/${out}/pin`))).toEqual([
      400,
      "NOT_DYNAMIC",
    ]);
    expect(refused(await send("DELETE", `/groups/${acme.deviceGroupId}/devices/${out}/pin`))).toEqual([
      400,
      "NOT_DYNAMIC",
    ]);
    await send("PATCH", `/groups/${group.id}`, { siteId: depot });
    expect(await membersOf(group.id)).toEqual([]);
  });

  it("write nothing of an evaluation that began with other conditions", async () => {
    const [old, fresh] = [await device({ tags: ["old"] }), await device({ tags: ["fresh"] })];
    const group = await made(tagged("old"));
    const began = await evaluable(group.id);
    await server.db.deleteFrom("deviceGroupMembers").where("groupId", "=", group.id).execute();
    await send("PATCH", `/groups/${group.id}`, { filterConditions: tagged("fresh") });
    await evaluate(server.services, began);
    expect(await membersOf(group.id)).toEqual([fresh]);
    await Promise.all([
      send("PATCH", `/groups/${group.id}`, { filterConditions: tagged("old") }),
      ...Array.from({ length: 5 }, () =>
        evaluate(server.services, { ...began, filterVersion: began.filterVersion + 1 }),
      ),
    ]);
    expect(await membersOf(group.id)).toEqual([old]);
  });

  it("lose no pin that is set while they are looked at", async () => {
    const ids = await makeDevices(
      server,
      Array.from({ length: 8 }, () => ({ orgId: acme.orgId, siteId: acme.siteId })),
    );
    const group = await made(tagged("nobody"));
    const began = await evaluable(group.id);
    await Promise.all(
      ids.flatMap((id) => [send("POST", `/groups/${group.id}/devices/${id}/pin`), evaluate(server.services, began)]),
    );
    expect(await membersOf(group.id)).toEqual(ids.toSorted());
  });

  it("may follow other groups, never themselves, and not through more than five", async () => {
    const one = await device({ tags: ["chain"] });
    const following = (id: string) => all({ field: "groupId", operator: "equals", value: id });
    const chain = [await made(tagged("chain"))];
    for (let at = 1; at <= 5; at += 1) chain.push(await made(following(chain[at - 1].id)));
    expect(await Promise.all(chain.map(({ id }) => membersOf(id)))).toEqual(chain.map(() => [one]));
    const tooLong = await create(following(chain[5].id));
    expect(refused(tooLong)).toEqual([400, "FILTER_INVALID_STRUCTURE"]);
    expect(tooLong.body.details.errors).toMatchObject([{ path: "conditions[0]", field: "groupId" }]);
    const [first, last] = [chain[0].id, chain[5].id];
    expect(refused(await send("PATCH", `/groups/${first}`, { filterConditions: following(last) }))).toEqual([
      400,
      "FILTER_INVALID_STRUCTURE",
    ]);
    expect(refused(await send("PATCH", `/groups/${first}`, { filterConditions: following(first) }))).toEqual([
      400,
      "FILTER_INVALID_STRUCTURE",
    ]);
    for (const foreign of [other.deviceGroupId, server.services.random.uuid()]) {
      const answer = await create(following(foreign));
      expect([...refused(answer), answer.body.details]).toEqual([400, "GROUP_NOT_IN_ORG", { groupIds: [foreign] }]);
    }
    const held = await send("DELETE", `/groups/${first}`);
    expect([...refused(held), held.body.details]).toEqual([
      409,
      "IN_USE",
      { policyIds: [], filterGroupIds: [chain[1].id] },
    ]);
    await send("PATCH", `/devices/${one}`, { tags: [] });
    await settle();
    expect(await Promise.all(chain.map(({ id }) => membersOf(id)))).toEqual(chain.map(() => []));
    const [a, b] = [await made(tagged("a")), await made(tagged("b"))];
    const both = await Promise.all([
      send("PATCH", `/groups/${a.id}`, { filterConditions: following(b.id) }),
      send("PATCH", `/groups/${b.id}`, { filterConditions: following(a.id) }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  it("of people confined to a site follow no group that these do not see", async () => {
    const { token: as } = await server.signIn({ role: "Org Technician", orgId: acme.orgId, siteIds: [acme.siteId] });
    const hidden = await made(tagged("hidden"));
    const following = all({ field: "groupId", operator: "in", value: [hidden.id] });
    const answer = await create(following, { siteId: acme.siteId, orgId: undefined }, as);
    expect(refused(answer)).toEqual([400, "GROUP_NOT_IN_ORG"]);
    expect(refused(await create(tagged("x"), { orgId: undefined }, as))).toEqual([403, "SITE_ACCESS_DENIED"]);
    const mine = await create(tagged("mine"), { siteId: acme.siteId, orgId: undefined }, as);
    expect(mine.status).toBe(201);
    const away = await device({ tags: ["mine"], siteId: depot });
    expect(refused(await send("POST", `/groups/${mine.body.id}/devices/${away}/pin`, undefined, as))).toEqual([
      403,
      "SITE_ACCESS_DENIED",
    ]);
    expect(await membersOf(mine.body.id)).toEqual([]);
  });

  it("show whom they match, and whom other conditions would, without changing anything", async () => {
    const [one, two] = [
      await device({ tags: ["seen"], hostname: "b-seen" }),
      await device({ tags: ["seen", "more"], hostname: "a-seen" }),
    ];
    await device({ tags: ["seen"], status: "decommissioned" });
    const group = await made(tagged("more"));
    const preview = await send("POST", `/groups/${group.id}/preview`);
    expect(preview.body.data, JSON.stringify(preview.body)).toMatchObject({
      totalCount: 1,
      devices: [{ id: two, hostname: "a-seen" }],
    });
    for (const shown of preview.body.data.devices)
      expect(Object.keys(shown).toSorted()).toEqual(
        ["id", "hostname", "displayName", "osType", "status", "lastSeenAt"].toSorted(),
      );
    const tried = await send("POST", `/groups/${group.id}/preview?limit=1`, { filterConditions: tagged("seen") });
    expect(tried.body.data).toMatchObject({ totalCount: 2, devices: [{ id: two }] });
    const { token: viewer } = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    expect((await send("POST", `/groups/${group.id}/preview`, undefined, viewer)).body.data?.totalCount).toBe(1);
    expect((await create(tagged("more"), {}, viewer)).status).toBe(403);
    const decommissioned = all({ field: "status", operator: "equals", value: "decommissioned" });
    expect(
      (await send("POST", `/groups/${group.id}/preview`, { filterConditions: decommissioned })).body.data.totalCount,
    ).toBe(0);
    expect(await membersOf(group.id)).toEqual([two]);
    for (const limit of ["0", "101", "x"])
      expect((await send("POST", `/groups/${group.id}/preview?limit=${limit}`)).status).toBe(400);
    expect(refused(await send("POST", `/groups/${acme.deviceGroupId}/preview`))).toEqual([400, "NOT_DYNAMIC"]);
    expect(await membersOf(group.id)).not.toContain(one);
    const stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect(refused(await send("POST", `/groups/${group.id}/preview`, undefined, stranger.token))).toEqual([
      404,
      "NOT_FOUND",
    ]);
  });

  it("are swept where time alone changes them, and all of them once an hour", async () => {
    const id = await device({ lastSeenAt: server.clock.now(), tags: ["swept"] });
    const timed = await made(
      all(
        { field: "tags", operator: "hasAny", value: ["swept"] },
        { field: "lastSeenAt", operator: "withinLast", value: { amount: 3, unit: "minutes" } },
      ),
    );
    const plain = await made(tagged("swept"));
    await settle();
    await server.db.deleteFrom("deviceGroupMembers").where("groupId", "=", plain.id).execute();
    server.clock.advance(4 * MINUTE);
    await sweepGroups(server.services);
    expect(await membersOf(timed.id)).toEqual([id]);
    server.clock.advance(2 * MINUTE);
    await sweepGroups(server.services);
    expect([await membersOf(timed.id), await membersOf(plain.id)]).toEqual([[], []]);
    server.clock.advance(HOUR);
    await sweepGroups(server.services);
    await signInAgain();
    expect(await membersOf(plain.id)).toEqual([id]);
    expect((await send("GET", `/groups/${plain.id}`)).body.lastEvaluatedAt).toBe(server.clock.now());
  });

  it("that fail keep their devices, tell whoever made them once, and are no target until they succeed", async () => {
    const id = await device({ tags: ["failing"] });
    const group = await made(tagged("failing"));
    const good = await made(tagged("failing"));
    await settle();
    const broken = { operator: "AND", conditions: [{ field: "nothing", operator: "equals", value: 1 }] } as never;
    const store = (filterConditions: never) =>
      server.db.updateTable("deviceGroups").set({ filterConditions }).where("id", "=", group.id).execute();
    await store(broken);
    for (let turn = 0; turn < 2; turn += 1) {
      server.clock.advance(2 * HOUR);
      await sweepGroups(server.services);
    }
    await signInAgain();
    const shown = (await send("GET", `/groups/${group.id}`)).body;
    expect(shown).toMatchObject({ deviceCount: 1, lastEvaluationError: "Its conditions could not be evaluated." });
    expect(shown.lastEvaluatedAt < server.clock.now()).toBe(true);
    const told = await server.db
      .selectFrom("notifications")
      .select("metadata")
      .where("title", "like", "Group%up to date")
      .execute();
    expect(told.filter(({ metadata }) => (metadata as { groupId?: string }).groupId === group.id)).toHaveLength(1);
    const db = asSystem(server.services, "evaluate device groups");
    await expect(targetedDevices(db, [good.id, group.id])).rejects.toMatchObject({ code: "GROUP_EVALUATION_FAILED" });
    expect(await targetedDevices(db, [good.id, server.services.random.uuid()])).toEqual([id]);
    await store(tagged("failing") as never);
    server.clock.advance(10 * MINUTE);
    await sweepGroups(server.services);
    expect((await send("GET", `/groups/${group.id}`)).body.lastEvaluationError).toBeNull();
    expect(await targetedDevices(db, [good.id, group.id])).toEqual([id]);
  });

  it("hold a custom field that their conditions name", async () => {
    const field = (
      await send("POST", "/custom-fields", { orgId: acme.orgId, fieldKey: "held", name: "Held", type: "text" })
    ).body;
    const group = await made(all({ field: "custom.held", operator: "equals", value: "x" }));
    const answer = await send("DELETE", `/custom-fields/${field.id}`);
    expect([...refused(answer), answer.body.details]).toEqual([409, "IN_USE", { groupIds: [group.id], filterIds: [] }]);
    expect((await send("DELETE", `/groups/${group.id}`)).status).toBe(200);
    expect((await send("DELETE", `/custom-fields/${field.id}`)).status).toBe(200);
  });

  it("follow defaults of custom fields", async () => {
    const field = (
      await send("POST", "/custom-fields", { orgId: acme.orgId, fieldKey: "tier", name: "Tier", type: "text" })
    ).body;
    const id = await device({ tags: ["tiered"] });
    const group = await made(
      all(
        { field: "custom.tier", operator: "equals", value: "gold" },
        { field: "tags", operator: "hasAny", value: ["tiered"] },
      ),
    );
    await settle();
    await send("PATCH", `/custom-fields/${field.id}`, { defaultValue: "gold" });
    await settle();
    expect(await membersOf(group.id)).toEqual([id]);
  });
});

const noHardware = {
  manufacturer: null,
  serialNumber: null,
  cpuModel: null,
  cpuCores: null,
  cpuThreads: null,
  ramTotalMb: null,
  diskTotalGb: null,
  gpuModel: null,
  biosVersion: null,
};
