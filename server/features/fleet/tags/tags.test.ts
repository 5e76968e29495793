import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("tags on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    await server.db.updateTable("devices").set({ tags: [] }).execute();
    const { orgId, siteId, secondOrgId } = acme;
    const depot = { orgId: secondOrgId, name: "Depot" };
    const { id: depotId } = (await server.request("POST", "/orgs/sites", { token, body: depot })).body;
    await makeDevices(server, [
      { orgId, siteId, hostname: "B-02", tags: ["kiosk", "Lobby"] },
      { orgId, siteId, hostname: "a-01", tags: ["kiosk"] },
      { orgId, siteId, hostname: "gone", tags: ["kiosk", "old"], status: "decommissioned" },
      { orgId: secondOrgId, siteId: depotId, hostname: "c-03", tags: ["Kiosk", "a%b", "zoë"] },
      { orgId: other.orgId, siteId: other.siteId, tags: ["kiosk", "theirs"] },
    ]);
  });
  afterAll(() => server?.stop());

  const get = async (path: string, as = token) => (await server.request("GET", path, { token: as })).body;
  const counts = (body: { data: { tag: string; deviceCount: number }[] }) =>
    body.data.map(({ tag, deviceCount }) => [tag, deviceCount]);

  it("are counted over devices in use that the caller reaches, most used first, then by their bytes", async () => {
    const all = await get("/tags");
    const single = ["Kiosk", "Lobby", "a%b", "zoë"].map((tag) => [tag, 1]);
    expect([counts(all), all.total]).toEqual([[["kiosk", 2], ...single], 5]);
    expect(all.data[0]).toEqual({ tag: "kiosk", name: "kiosk", deviceCount: 2 });
    expect(counts(await get(`/tags?orgId=${acme.secondOrgId}`))).toEqual([
      ["Kiosk", 1],
      ["a%b", 1],
      ["zoë", 1],
    ]);
    expect(counts(await get("/tags?search=%25"))).toEqual([["a%b", 1]]);
    expect(counts(await get("/tags?search=KIOSK"))).toEqual([
      ["kiosk", 2],
      ["Kiosk", 1],
    ]);
    expect(await get("/tags?search=old")).toEqual({ data: [], total: 0 });
  });

  it("find the devices that carry them exactly, by hostname", async () => {
    const found = await get("/tags/devices?tag=kiosk");
    expect(found.data.map(({ hostname }: { hostname: string }) => hostname)).toEqual(["a-01", "B-02"]);
    expect(found.total).toBe(2);
    const second = await get("/tags/devices?tag=kiosk&limit=1&page=2");
    expect([second.data.length, second.data[0].hostname, second.total]).toEqual([1, "B-02", 2]);
    expect((await get("/tags/devices")).code).toBe("VALIDATION_ERROR");
  });

  it("of devices at other sites are neither counted nor found for who is confined to one", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.secondSiteId] });
    expect(await get("/tags", confined.token)).toEqual({ data: [], total: 0 });
    expect(await get("/tags/devices?tag=kiosk", confined.token)).toEqual({ data: [], total: 0 });
  });

  it("of organizations that lists hide are neither counted nor found, and others' are out of reach", async () => {
    const { body } = await server.request("GET", `/tags?orgId=${other.orgId}`, { token });
    expect(body.code).toBe("ORG_ACCESS_DENIED");
    const hidden = server.db.updateTable("organizations").where("id", "=", acme.secondOrgId);
    await hidden.set({ status: "archived" }).execute();
    expect((await get("/tags")).total).toBe(2);
    expect(await get("/tags/devices?tag=Kiosk")).toEqual({ data: [], total: 0 });
    await hidden.set({ status: "active" }).execute();
    expect((await get("/tags/devices?tag=Kiosk")).total).toBe(1);
  });

  it("are shown up to a thousand, and all are counted", async () => {
    const { orgId, siteId } = acme;
    const many = Array.from({ length: 11 }, (_, row) => ({
      ...{ orgId, siteId, hostname: `many-${row}` },
      tags: Array.from({ length: 100 }, (_, at) => `many-${row}-${at}`),
    }));
    await makeDevices(server, many);
    const { data, total } = await get("/tags?search=many-");
    expect([data.length, total]).toEqual([1_000, 1_100]);
  });
});
