import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { fleetQueries } from "#server/access/fleet-queries";
import { asSystem } from "#server/db/as-system";
import { chunks } from "#server/db/chunks";
import { HOUR, MINUTE } from "#server/platform/clock";
import { makeDevices } from "../../../test/devices.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { evaluateDue } from "./due.ts";
import { evaluate } from "./evaluate.ts";
import { findEvaluable } from "./queries.ts";
import { TOLD_MAX } from "./rules.ts";
import { sweepGroups } from "./sweep-groups.ts";
import { targetedDevices } from "./targets.ts";

const COUNT = 3 * TOLD_MAX + 1;
const tagged = (tag: string) => ({
  operator: "AND",
  conditions: [{ field: "tags", operator: "hasAny", value: [tag] }],
});

interface Told {
  readonly added: number;
  readonly removed: number;
  readonly addedDeviceIds: string[];
  readonly removedDeviceIds: string[];
}

describe.each(databases)("groups of thousands on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;
  let site: string;
  let groupId: string;
  let ids: string[];
  let number = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    site = (await send("POST", "/orgs/sites", { orgId: acme.orgId, name: "Many" })).body.id;
  });
  afterAll(() => server?.stop());

  /** A group, and devices that match it from now on. */
  beforeEach(async () => {
    number += 1;
    const body = { orgId: acme.orgId, name: `Many ${number}`, type: "dynamic", filterConditions: tagged(`t${number}`) };
    groupId = (await send("POST", "/groups", body)).body.id;
    await evaluateDue(server.services);
    ids = await makeDevices(
      server,
      Array.from({ length: COUNT }, (_, at) => ({
        ...{ orgId: acme.orgId, siteId: site, hostname: `many-${number}-${at}`, tags: [`t${number}`] },
      })),
    );
  });

  const send = (method: string, path: string, body?: object) =>
    server.request(method, path, { token, ...(body ? { body } : {}) });
  const evaluable = async () => {
    const group = await findEvaluable(asSystem(server.services, "evaluate device groups"), groupId);
    return group as NonNullable<typeof group>;
  };
  const membersOf = async () => {
    const rows = server.db.selectFrom("deviceGroupMembers").select("deviceId").where("groupId", "=", groupId);
    return (await rows.execute()).map(({ deviceId }) => deviceId).toSorted();
  };
  const told = async () => (await eventsOf(server.db, groupId)).map(({ data }) => data as unknown as Told);
  /** Who is a member, as the log has it: each entry turns what the one before said. */
  const logged = async () => {
    const rows = await server.db
      .selectFrom("deviceGroupLog")
      .select(["hostname", "action"])
      .where("groupId", "=", groupId)
      .execute();
    const balance = new Map<string, number>();
    for (const { hostname, action } of rows)
      balance.set(hostname, (balance.get(hostname) ?? 0) + (action === "added" ? 1 : -1));
    expect([...balance.values()].every((one) => one === 0 || one === 1)).toBe(true);
    return { entries: rows.length, members: [...balance.values()].filter((one) => one === 1).length };
  };
  /** Services that fail a single time, when so many ids were made. */
  const failingAfter = (count: number, error: object = new Error("the machine is gone")) => {
    let left = count;
    const uuid = () => {
      left -= 1;
      if (left === -1) throw error;
      return server.services.random.uuid();
    };
    return { ...server.services, random: { ...server.services.random, uuid } };
  };

  it("are written in parts, each with an event that names all of its devices", async () => {
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual(ids.toSorted());
    const joined = await told();
    expect(joined.map(({ added, removed }) => [added, removed])).toEqual([
      [TOLD_MAX, 0],
      [TOLD_MAX, 0],
      [TOLD_MAX, 0],
      [1, 0],
    ]);
    expect(joined.flatMap(({ addedDeviceIds }) => addedDeviceIds).toSorted()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: COUNT, members: COUNT });
    await server.db.updateTable("devices").set({ tags: [] }).where("id", "in", ids).execute();
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual([]);
    const left = (await told()).slice(joined.length);
    expect(left.flatMap(({ removedDeviceIds }) => removedDeviceIds).toSorted()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: 2 * COUNT, members: 0 });
    const listed = await send("GET", `/groups/${groupId}/membership-log?action=removed`);
    expect(listed.body.pagination.total).toBe(COUNT);
  });

  it("tell what was written where a later part fails, and write the rest once with the next look", async () => {
    const group = await evaluable();
    await evaluate(failingAfter(2 * TOLD_MAX) as never, group);
    const members = await membersOf();
    expect(members.length).toBeGreaterThan(0);
    expect(members.length).toBeLessThan(COUNT);
    expect(await logged()).toEqual({ entries: members.length, members: members.length });
    expect((await told()).flatMap(({ addedDeviceIds }) => addedDeviceIds).toSorted()).toEqual(members);
    expect((await send("GET", `/groups/${groupId}`)).body.lastEvaluationError).not.toBeNull();
    await evaluate(server.services, group);
    expect(await membersOf()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: COUNT, members: COUNT });
    expect((await told()).flatMap(({ addedDeviceIds }) => addedDeviceIds).toSorted()).toEqual(ids.toSorted());
    expect((await send("GET", `/groups/${groupId}`)).body.lastEvaluationError).toBeNull();
  });

  it("are no fault of their conditions where two transactions wait for each other, and go on by the next note", async () => {
    const deadlock = Object.assign(new Error("deadlock detected"), { code: "40P01" });
    await evaluate(failingAfter(2 * TOLD_MAX, deadlock) as never, await evaluable());
    expect((await membersOf()).length).toBeLessThan(COUNT);
    expect((await send("GET", `/groups/${groupId}`)).body.lastEvaluationError).toBeNull();
    const notes = server.db.selectFrom("deviceGroupDue").select("seq").where("groupId", "=", groupId);
    expect(await notes.execute()).toHaveLength(1);
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: COUNT, members: COUNT });
  });

  it("hold whom other conditions match that are given meanwhile, and log each change once", async () => {
    const group = await evaluable();
    const [, changed] = await Promise.all([
      evaluate(server.services, group),
      send("PATCH", `/groups/${groupId}`, { filterConditions: tagged(`t${number - 1}`) }),
      evaluate(server.services, group),
    ]);
    expect(changed.status).toBe(200);
    await evaluateDue(server.services);
    const members = await membersOf();
    expect(members.filter((id) => ids.includes(id))).toEqual([]);
    expect((await logged()).members).toBe(members.length);
    const events = await told();
    const sum = (of: (one: Told) => number) => events.reduce((before, one) => before + of(one), 0);
    expect(sum(({ added }) => added) - sum(({ removed }) => removed)).toBe(members.length);
  });

  it("lose devices that move to another organization meanwhile, whose entries keep the name alone", async () => {
    const elsewhere = (await send("POST", "/orgs/sites", { orgId: acme.secondOrgId, name: `Away ${number}` })).body.id;
    const moving = ids.toSorted().slice(-4);
    const [, ...moved] = await Promise.all([
      evaluate(server.services, await evaluable()),
      ...moving.map((id) => send("POST", `/devices/${id}/move-org`, { orgId: acme.secondOrgId, siteId: elsewhere })),
    ]);
    expect(moved.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual(ids.filter((id) => !moving.includes(id)).toSorted());
    expect((await logged()).members).toBe(COUNT - moving.length);
    const foreign = server.db.selectFrom("deviceGroupLog").select("id").where("groupId", "=", groupId);
    expect(await foreign.where("deviceId", "in", moving).execute()).toEqual([]);
  });

  /** Devices join as soon as somebody looks; until then nothing starts on it. */
  const isAwaited = async (id: string) => {
    await expect(targetedDevices(db(), [id])).rejects.toMatchObject({ code: "GROUP_EVALUATION_FAILED" });
    expect((await send("GET", `/groups/${id}`)).body.lastEvaluatedAt).toBeNull();
  };
  const db = () => asSystem(server.services, "evaluate device groups");
  /** What a process that was killed while it looked has left. */
  const dieLooking = async () => {
    await evaluate(failingAfter(TOLD_MAX + 1) as never, await evaluable());
    const forgotten = { lastEvaluationError: null, attemptedAt: null };
    await server.db.updateTable("deviceGroups").set(forgotten).where("id", "=", groupId).execute();
    await server.db.updateTable("deviceGroupDue").set({ claimedAt: server.clock.now() }).execute();
    expect(await membersOf()).toHaveLength(TOLD_MAX);
  };

  it("that are new are answered without their devices, and are no target until all are written", async () => {
    expect((await send("DELETE", `/groups/${groupId}`)).status).toBe(200);
    const body = { orgId: acme.orgId, name: `New ${number}`, type: "dynamic", filterConditions: tagged(`t${number}`) };
    const made = await send("POST", "/groups", body);
    expect([made.status, made.body.deviceCount, made.body.lastEvaluatedAt]).toEqual([201, 0, null]);
    groupId = made.body.id;
    await isAwaited(groupId);
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual(ids.toSorted());
    expect((await targetedDevices(db(), [groupId])).toSorted()).toEqual(ids.toSorted());
  });

  it("that get other conditions keep their devices for the answer, and are no target until all are written", async () => {
    await evaluateDue(server.services);
    const before = (await told()).length;
    const changed = await send("PATCH", `/groups/${groupId}`, { filterConditions: tagged("nobody") });
    expect([changed.status, changed.body.deviceCount, changed.body.lastEvaluatedAt]).toEqual([200, COUNT, null]);
    await isAwaited(groupId);
    await evaluateDue(server.services);
    expect(await targetedDevices(db(), [groupId])).toEqual([]);
    const events = (await told()).slice(before);
    expect(Math.max(...events.map(({ removed }) => removed))).toBe(TOLD_MAX);
    expect(events.flatMap(({ removedDeviceIds }) => removedDeviceIds).toSorted()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: 2 * COUNT, members: 0 });
  });

  it.each([
    ["the sweep", 0, () => sweepGroups(server.services)],
    ["whoever takes its notes two minutes later", 2 * MINUTE + 1, () => evaluateDue(server.services)],
  ])("are completed by %s after a process that died looking", async (_, laterMs, complete) => {
    const filterConditions = { operator: "OR", conditions: tagged(`t${number}`).conditions };
    expect((await send("PATCH", `/groups/${groupId}`, { filterConditions })).status).toBe(200);
    await dieLooking();
    await isAwaited(groupId);
    server.clock.advance(laterMs);
    await complete();
    expect(await membersOf()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: COUNT, members: COUNT });
    expect((await targetedDevices(db(), [groupId])).toSorted()).toEqual(ids.toSorted());
  });

  it("lose devices of other sites, pinned or not, soon after they get another one", async () => {
    await evaluateDue(server.services);
    const [pinned] = ids as [string];
    expect((await send("POST", `/groups/${groupId}/devices/${pinned}/pin`)).status).toBe(201);
    const empty = (await send("POST", "/orgs/sites", { orgId: acme.orgId, name: `Empty ${number}` })).body.id;
    const moved = await send("PATCH", `/groups/${groupId}`, { siteId: empty });
    expect([moved.status, moved.body.lastEvaluatedAt]).toEqual([200, null]);
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual([]);
    expect(await logged()).toEqual({ entries: 2 * COUNT, members: 0 });
  });

  it("of people lose them before the answer, each told by an event that names it", async () => {
    const made = await send("POST", "/groups", { orgId: acme.orgId, name: `Static ${number}` });
    groupId = made.body.id;
    for (const deviceIds of chunks(ids))
      expect((await send("POST", `/groups/${groupId}/devices`, { deviceIds })).status).toBe(201);
    const before = (await told()).length;
    const empty = (await send("POST", "/orgs/sites", { orgId: acme.orgId, name: `None ${number}` })).body.id;
    const moved = await send("PATCH", `/groups/${groupId}`, { siteId: empty });
    expect([moved.status, moved.body.deviceCount]).toEqual([200, 0]);
    const left = (await told()).slice(before);
    expect(left.flatMap(({ removedDeviceIds }) => removedDeviceIds).toSorted()).toEqual(ids.toSorted());
    expect(await logged()).toEqual({ entries: 2 * COUNT, members: 0 });
  });

  it("get nothing more once they, or their organization, are gone", async () => {
    const group = await evaluable();
    const set = (status: "active" | "purging") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", acme.orgId).execute();
    await set("purging");
    await evaluate(server.services, group);
    server.clock.advance(2 * HOUR);
    await sweepGroups(server.services);
    await evaluateDue(server.services);
    expect(await membersOf()).toEqual([]);
    expect(await told()).toEqual([]);
    await set("active");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    const [removed] = await Promise.all([
      send("DELETE", `/groups/${groupId}`),
      evaluate(server.services, group),
      evaluate(server.services, group),
    ]);
    expect(removed.status).toBe(200);
    expect(await membersOf()).toEqual([]);
    expect(await server.db.selectFrom("deviceGroupLog").select("id").where("groupId", "=", groupId).execute()).toEqual(
      [],
    );
  });

  it("are looked for as previews are, sixty a minute of one person", async () => {
    const { token: as, userId } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const asked = (method: string, path: string, body: object) => server.request(method, path, { token: as, body });
    const named = (name: string) => ({ orgId: acme.orgId, name, type: "dynamic", filterConditions: tagged("none") });
    for (let taken = 0; taken < fleetQueries.max; taken += 1) await server.services.limiter.take(fleetQueries, userId);
    const change = { filterConditions: tagged("other") };
    for (const [method, path, body] of [
      ["POST", "/groups", named(`Late ${number}`)],
      ["PATCH", `/groups/${groupId}`, change],
    ] as const) {
      const answer = await asked(method, path, body);
      expect([answer.status, answer.body.code]).toEqual([429, "RATE_LIMITED"]);
    }
    expect((await asked("PATCH", `/groups/${groupId}`, { description: "Renamed" })).status).toBe(200);
    expect((await send("GET", `/groups/${groupId}`)).body.filterConditions).toEqual(tagged(`t${number}`));
    expect((await send("GET", `/groups?search=${encodeURIComponent(`Late ${number}`)}`)).body.total).toBe(0);
  });
});
