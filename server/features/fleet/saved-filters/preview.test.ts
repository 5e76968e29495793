import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FilterGroup } from "#contract/core/filters/condition";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditOf } from "../../../test/audit-of.ts";
import { makeDevices } from "../../../test/devices.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

const named = (text: string): FilterGroup => ({
  operator: "AND",
  conditions: [{ field: "hostname", operator: "startsWith", value: text }],
});
const gone: FilterGroup = {
  operator: "AND",
  conditions: [
    { field: "status", operator: "in", value: ["decommissioned"] },
    { field: "hostname", operator: "startsWith", value: "till" },
  ],
};

describe.each(databases)("previews of filters on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const depot = await server.request("POST", "/orgs/sites", {
      token: admin.token,
      body: { orgId: acme.secondOrgId, name: "Depot" },
    });
    const { orgId, siteId, secondOrgId, secondSiteId } = acme;
    const tills = Array.from({ length: 137 }, (_, index) => ({
      ...{ orgId, siteId: index < 20 ? secondSiteId : siteId },
      hostname: `till-${String(index).padStart(3, "0")}`,
    }));
    await makeDevices(server, [
      ...tills,
      { orgId, siteId, hostname: "till-gone", status: "decommissioned" },
      { orgId: secondOrgId, siteId: depot.body.id, hostname: "kiosk-1" },
      { orgId, siteId, hostname: "KIOSK-2", displayName: "Lobby" },
      { orgId: other.orgId, siteId: other.siteId, hostname: "kiosk-3" },
      { orgId: other.orgId, siteId: other.siteId, hostname: "till-500" },
    ]);
  });
  afterAll(() => server?.stop());

  /** The clock stands, and a person may ask 60 times a minute. */
  const send = (path: string, body?: object, { token } = admin) => {
    server.clock.advance(2_000);
    return server.request("POST", path, { token, ...(body ? { body } : {}) });
  };
  const preview = (conditions: unknown, { as = admin, query = "", ...more }: Asked = {}) =>
    send(`/filters/preview${query}`, { conditions, ...more }, as);
  type Asked = { as?: SignedInUser; query?: string; limit?: unknown };
  const save = async (conditions: FilterGroup, orgId = acme.orgId) =>
    (await send("/filters", { orgId, name: "Saved", conditions })).body.id as string;
  const hostnames = ({ body }: { body: { data: { devices: { hostname: string }[] } } }) =>
    body.data.devices.map(({ hostname }) => hostname);

  it("count all devices that match, and show the first ten, or as many as are asked for (C18)", async () => {
    const ten = await preview(named("till"));
    expect([ten.status, ten.body.data.totalCount]).toEqual([200, 137]);
    expect(hostnames(ten)).toEqual(Array.from({ length: 10 }, (_, index) => `till-00${index}`));
    const hundred = await preview(named("till"), { limit: 100 });
    expect([hundred.body.data.totalCount, hundred.body.data.devices.length]).toEqual([137, 100]);
    const id = await save(named("till"));
    const saved = await send(`/filters/${id}/preview?limit=100`);
    expect(hostnames(saved)).toEqual(hostnames(hundred));
    expect((await send(`/filters/${id}/preview`)).body.data.devices).toHaveLength(10);
    for (const limit of [0, 101, -1, 1.5, "10", null]) {
      const refused = await preview(named("till"), { limit });
      expect([limit, refused.status, refused.body.code]).toEqual([limit, 400, "VALIDATION_ERROR"]);
    }
    for (const limit of ["0", "101", "x", "1.5", ""])
      expect([limit, (await send(`/filters/${id}/preview?limit=${limit}`)).status]).toEqual([limit, 400]);
  });

  it("of a filter show some of the devices, of which a group holds all (C18)", async () => {
    const filter = await server.request("GET", `/filters/${await save(named("till"))}`, { token: admin.token });
    const body = { orgId: acme.orgId, name: "Tills", type: "dynamic", filterConditions: filter.body.conditions };
    const { id, deviceCount } = (await send("/groups", body)).body;
    expect(deviceCount).toBe(137);
    const page = async (number: number): Promise<string[]> => {
      const path = `/groups/${id}/devices?limit=100&page=${number}`;
      const listed = await server.request("GET", path, { token: admin.token });
      return listed.body.data.map(({ hostname }: { hostname: string }) => hostname);
    };
    const held = [...(await page(1)), ...(await page(2))].toSorted();
    expect(held).toEqual(Array.from({ length: 137 }, (_, index) => `till-${String(index).padStart(3, "0")}`));
  });

  it("show no device whose values contradict the conditions, although devices change meanwhile (C18)", async () => {
    const online: FilterGroup = {
      operator: "AND",
      conditions: [...named("till").conditions, { field: "status", operator: "equals", value: "online" }],
    };
    const changed = () => server.db.updateTable("devices").where("hostname", "like", "till-0%");
    let isChanging = true;
    const changes = (async () => {
      for (let at = 0; isChanging; at += 1) {
        await changed()
          .set({ status: at % 2 === 0 ? "offline" : "online" })
          .execute();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    const totals = new Set<number>();
    const statuses = new Set<string>();
    try {
      for (let asked = 0; asked < 40; asked += 1) {
        const { totalCount, devices } = (await preview(online, { limit: 100 })).body.data;
        totals.add(totalCount);
        for (const { status } of devices) statuses.add(status);
      }
    } finally {
      isChanging = false;
      await changes;
      await changed().set({ status: "online" }).execute();
    }
    expect([...totals].toSorted((a, b) => a - b)).toEqual([37, 137]);
    expect([...statuses]).toEqual(["online"]);
  });

  it("show devices by hostname as they are at that moment", async () => {
    const { data } = (await preview(named("kiosk"))).body;
    expect(data).toEqual({
      totalCount: 2,
      devices: [
        {
          ...{ id: expect.any(String), hostname: "kiosk-1", displayName: null, osType: "windows", status: "online" },
          lastSeenAt: expect.any(String),
        },
        {
          ...{ id: expect.any(String), hostname: "KIOSK-2", displayName: "Lobby", osType: "windows", status: "online" },
          lastSeenAt: expect.any(String),
        },
      ],
      evaluatedAt: server.clock.now(),
    });
    const online: FilterGroup = {
      operator: "AND",
      conditions: [...named("kiosk").conditions, { field: "status", operator: "equals", value: "online" }],
    };
    await server.db.updateTable("devices").set({ status: "offline" }).where("hostname", "=", "kiosk-1").execute();
    expect(hostnames(await preview(online))).toEqual(["KIOSK-2"]);
    await server.db.updateTable("devices").set({ status: "online" }).where("hostname", "=", "kiosk-1").execute();
  });

  it("see devices out of service only where a condition asks for that status", async () => {
    expect((await preview(named("till"))).body.data.totalCount).toBe(137);
    expect(hostnames(await preview(gone))).toEqual(["till-gone"]);
    const all: FilterGroup = {
      operator: "AND",
      conditions: [{ field: "status", operator: "notEquals", value: "online" }],
    };
    expect(hostnames(await preview(all))).not.toContain("till-gone");
    const some = (operator: "in" | "notIn", value: string[]): FilterGroup => ({
      operator: "AND",
      conditions: [...named("till-g").conditions, { field: "status", operator, value }],
    });
    expect(hostnames(await preview(some("in", ["online", "decommissioned"])))).toEqual(["till-gone"]);
    expect(hostnames(await preview(some("in", ["online", "offline"])))).toEqual([]);
    expect(hostnames(await preview(some("notIn", ["decommissioned"])))).toEqual([]);
  });

  it("reach every organization that the caller's lists show, or the one that it names", async () => {
    const id = await save(named("kiosk"), acme.secondOrgId);
    const saved = (query: string, as?: SignedInUser) => send(`/filters/${id}/preview${query}`, undefined, as);
    expect(hostnames(await saved(""))).toEqual(["kiosk-1", "KIOSK-2"]);
    expect(hostnames(await saved(`?orgId=${acme.orgId}`))).toEqual(["KIOSK-2"]);
    expect(hostnames(await preview(named("kiosk"), { query: `?orgId=${acme.orgId}` }))).toEqual(["KIOSK-2"]);
    const foreign = await saved(`?orgId=${other.orgId}`);
    expect([foreign.status, foreign.body.code]).toEqual([403, "ORG_ACCESS_DENIED"]);
    const some = await server.signIn({
      role: "Partner Technician",
      partnerId: acme.partnerId,
      orgAccess: "selected",
      orgIds: [acme.secondOrgId],
    });
    expect(hostnames(await saved("", some))).toEqual(["kiosk-1"]);
    expect((await preview(named("till"), { as: some })).body.data).toMatchObject({ totalCount: 0, devices: [] });
    const none = await server.signIn({ role: "Partner Technician", partnerId: acme.partnerId, orgAccess: "none" });
    expect((await preview(named("kiosk"), { as: none })).body.data.totalCount).toBe(0);
    expect((await saved("", none)).status).toBe(404);
    const stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect((await saved("", stranger)).status).toBe(404);
    const system = await server.signIn({ role: "System Admin" });
    expect((await saved("", system)).body.data.totalCount).toBe(3);
    const hidden = server.db.updateTable("organizations").where("id", "=", acme.secondOrgId);
    await hidden.set({ status: "archived" }).execute();
    expect(hostnames(await saved(""))).toEqual(["KIOSK-2"]);
    await hidden.set({ status: "active" }).execute();
  });

  it("show who is confined to sites what is there", async () => {
    const confined = await server.signIn({ role: "Org Viewer", orgId: acme.orgId, siteIds: [acme.secondSiteId] });
    const { body } = await preview(named("till"), { as: confined, limit: 100 });
    expect([body.data.totalCount, body.data.devices.length]).toEqual([20, 20]);
    const id = await save(named("kiosk"));
    expect((await send(`/filters/${id}/preview`, undefined, confined)).body.data.totalCount).toBe(0);
  });

  it("refuse what is wrong with a filter, and keep nothing", async () => {
    const wrong = { operator: "AND", conditions: [{ field: "hostname", operator: "matches", value: "(" }] };
    const { status, body } = await preview(wrong);
    expect([status, body.code, body.details.errors[0].path]).toEqual([400, "FILTER_INVALID_REGEX", "conditions[0]"]);
    expect((await preview(undefined)).status).toBe(400);
    const before = await server.db.selectFrom("savedFilters").select("id").execute();
    await preview(named("till"));
    expect(await server.db.selectFrom("savedFilters").select("id").execute()).toHaveLength(before.length);
  });

  it("are recorded in the caller's tenant with counts and without conditions", async () => {
    const member = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    const id = await save(named("kiosk"));
    await send(`/filters/${id}/preview`);
    await preview(named("kiosk"), { query: `?orgId=${acme.orgId}` });
    await preview(named("till"), { as: member });
    const entries = (action: string, by: SignedInUser) =>
      auditOf(server, (entry) => entry.action === action && entry.actorId === by.userId);
    expect((await entries("filter.saved.preview", admin)).at(-1)).toMatchObject({
      ...{ orgId: null, partnerId: acme.partnerId, resourceId: id },
      details: { totalCount: 2, orgCount: 2 },
    });
    const narrowed = (await entries("filter.preview", admin)).at(-1);
    const ofPartner = { orgId: null, partnerId: acme.partnerId };
    expect(narrowed).toMatchObject({ ...ofPartner, details: { totalCount: 1, orgCount: 1 } });
    expect(JSON.stringify(narrowed)).not.toContain("startsWith");
    // A filter of one customer that is tried on another tells neither of it.
    await send(`/filters/${id}/preview?orgId=${acme.secondOrgId}`);
    expect((await entries("filter.saved.preview", admin)).at(-1)).toMatchObject({ ...ofPartner, resourceId: id });
    expect((await entries("filter.preview", member)).at(-1)).toMatchObject({
      ...{ orgId: acme.orgId, details: { totalCount: 137, orgCount: 1 } },
    });
  });

  it("find patterns in which percent signs, backslashes and what no text has stand", async () => {
    const { orgId, siteId } = acme;
    const shown = ["50% off x", "100%", "100% cotton", "a\\b", "a\\ and b"];
    await makeDevices(
      server,
      shown.map((displayName, at) => ({ orgId, siteId, hostname: `sale-${at}`, displayName })),
    );
    for (const [value, found] of [
      ["%.*x", [0]],
      ["100%", [1, 2]],
      ["^100%$", [1]],
      ["%+", [0, 1, 2]],
      ["\\\\.*b$", [3, 4]],
      ["\\x00", []],
      ["a\\ud83d", []],
    ] as const) {
      const asked = await preview({
        operator: "AND",
        conditions: [{ field: "displayName", operator: "matches", value }],
      });
      expect([value, asked.status, hostnames(asked)]).toEqual([value, 200, found.map((at) => `sale-${at}`)]);
    }
  });
});
