import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const found = (name: string, more: object = {}) => ({
  ...{ name, severity: "high", category: "trojan", path: `C:\\${name}.exe`, status: "detected", detectedAt: at(0) },
  ...more,
});

describe.each(databases)("threats on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    await server.db.deleteFrom("deviceThreats").where("orgId", "=", acme.orgId).execute();
  });
  afterAll(() => server?.stop());

  const report = async (threats: unknown, more: object = {}, of = acme) => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    const body = { provider: { id: "windows_defender" }, realTimeProtection: true, threats, ...more };
    return server.request("PUT", `/agents/${of.deviceId}/security`, { token: of.agentToken, body });
  };
  const get = async (path: string, as = token) => (await server.request("GET", path, { token: as })).body;
  const rows = () =>
    server.db.selectFrom("deviceThreats").selectAll().where("orgId", "=", acme.orgId).orderBy("id").execute();
  const told = async () =>
    (await eventsOf(server.db, acme.deviceId)).map(({ kind, data }) => [kind, data["threatName"]]);
  const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);

  it("are stored and told once, whatever else is malformed", async () => {
    const threats = [
      found("Trojan", { externalId: "7" }),
      { name: "no severity", status: "detected", detectedAt: at(0) },
      found("odd", { status: "sleeping" }),
      found("Miner\u0000", { category: "miner", severity: "critical", path: undefined, detectedAt: at(1) }),
      "nonsense",
    ];
    const first = await report(threats);
    expect(first.body).toMatchObject({ success: true, count: 3, ignoredFields: ["threats"] });
    const { data, summary } = await get("/security/threats");
    expect(data).toMatchObject([
      { name: "Miner\ufffd", category: null, severity: "critical", filePath: null, detectedAt: at(1) },
      { name: "Trojan", category: "trojan", status: "active", rawStatus: "detected", providerId: "windows_defender" },
    ]);
    expect(data[1]).toMatchObject({ deviceId: acme.deviceId, deviceName: "acme-pc-01", filePath: "C:\\Trojan.exe" });
    expect(summary).toEqual({ total: 2, active: 2, quarantined: 0, critical: 1, allowed: 0 });
    const kind = "security.threat_detected";
    expect(await told()).toEqual([
      [kind, "Trojan"],
      [kind, "Miner\ufffd"],
    ]);
    const [event] = await eventsOf(server.db, acme.deviceId);
    expect(event).toMatchObject({ orgId: acme.orgId, siteId: acme.siteId });
    expect(event?.data).toEqual({
      ...{ deviceId: acme.deviceId, deviceName: "acme-pc-01", threatId: data[1].id, threatName: "Trojan" },
      ...{ category: "trojan", severity: "high", status: "active", detectedAt: at(0) },
    });
  });

  it("that are reported again write and tell nothing", async () => {
    const again = [
      found("Trojan"),
      found("Miner\u0000", { category: "miner", severity: "critical", path: null, detectedAt: at(1) }),
    ];
    const before = [await rows(), await told(), await server.db.selectFrom("deviceSecurity").selectAll().execute()];
    server.clock.advance(60_000);
    expect((await report(again.toReversed())).status).toBe(200);
    // A list that is none, and one without them, says nothing of them.
    await report("many");
    await report([]);
    expect([await rows(), await told(), await server.db.selectFrom("deviceSecurity").selectAll().execute()]).toEqual(
      before,
    );
  });

  it("change by what is said of them alone, and are one row while they are open", async () => {
    const [trojan] = (await rows()).filter(({ name }) => name === "Trojan");
    await report([found("Trojan", { status: "quarantined", detectedAt: at(2) })]);
    await report([found("Trojan", { status: "removed", detectedAt: at(2) })]);
    const [ended] = (await get("/security/threats?status=removed")).data;
    expect(ended).toMatchObject({ id: trojan?.id, rawStatus: "removed", removedAt: server.clock.now() });
    await report([found("Trojan", { status: "allowed", detectedAt: at(2) })]);
    const allowed = await get("/security/threats?search=trojan");
    expect(allowed.data).toMatchObject([{ id: trojan?.id, status: "removed", rawStatus: "allowed", removedAt: null }]);
    expect(allowed.summary).toEqual({ total: 1, active: 0, quarantined: 0, critical: 0, allowed: 1 });
    expect((await get(`/security/status/${acme.deviceId}`)).threatsDetected).toBe(2);
    const before = (await told()).length;
    await report([found("Trojan", { detectedAt: at(9) })]);
    expect((await told()).length).toBe(before + 1);
    expect((await get("/security/threats?search=trojan")).data).toHaveLength(2);
  });

  it("that come in two reports at once are one row, and told once", async () => {
    const before = (await told()).length;
    const answers = await Promise.all([1, 2].map(() => report([found("Twin"), found("Other twin")])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await rows()).filter(({ name }) => /twin/i.test(name))).toHaveLength(2);
    expect((await told()).length).toBe(before + 2);
  });

  it("are filtered, and counted as they are filtered", async () => {
    const filtered = async (query: string) => names(await get(`/security/threats?${query}`)).toSorted();
    expect(await filtered("severity=critical")).toEqual(["Miner\ufffd"]);
    expect(await filtered("category=trojan&status=active&search=TWIN")).toEqual(["Other twin", "Twin"]);
    expect(await filtered(`startDate=${at(1)}&endDate=${at(1)}`)).toEqual(["Miner\ufffd"]);
    expect(await filtered("providerId=os_builtin")).toEqual([]);
    expect(await filtered("search=acme-pc")).toHaveLength(5);
    expect(await filtered("search=%25")).toEqual([]);
    const page = await get("/security/threats?limit=2&page=2&status=active");
    expect([page.data.length, page.pagination.total, page.summary.total]).toEqual([2, 4, 4]);
    expect(names(await get(`/security/threats/${acme.deviceId}?severity=critical`))).toEqual(["Miner\ufffd"]);
  });

  it("are shown to who reaches their device, and not while their organization is hidden", async () => {
    const other = await seedTenant(server.db, server.services, "other");
    const theirs = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect(names(await get("/security/threats", theirs.token))).toEqual(["Trojan:Win32/other"]);
    expect((await server.request("GET", `/security/threats/${acme.deviceId}`, theirs)).status).toBe(404);
    const refused = await server.request("GET", `/security/threats?orgId=${acme.orgId}`, theirs);
    expect(refused.body.code).toBe("ORG_ACCESS_DENIED");
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.secondSiteId] });
    expect(await get("/security/threats", confined.token)).toMatchObject({
      data: [],
      summary: { total: 0, active: 0 },
    });
    const away = await server.request("GET", `/security/threats/${acme.deviceId}`, confined);
    expect(away.body.code).toBe("SITE_ACCESS_DENIED");
    const orgs = (id: string) => server.db.updateTable("organizations").where("id", "=", id);
    await orgs(other.orgId).set({ status: "archived" }).execute();
    expect(names(await get("/security/threats", theirs.token))).toEqual([]);
    expect(names(await get(`/security/threats?orgId=${other.orgId}`, theirs.token))).toHaveLength(1);
  });

  it("beyond 500 a report and 1,000 open ones a device are not taken", async () => {
    const tenant = await seedTenant(server.db, server.services, "crowded");
    const batch = (from: number) => Array.from({ length: 510 }, (_, index) => found(`v${from + index}`));
    const count = async () =>
      (await server.db.selectFrom("deviceThreats").select("id").where("orgId", "=", tenant.orgId).execute()).length;
    expect((await report(batch(0), {}, tenant)).body).toMatchObject({ count: 501, ignoredFields: ["threats"] });
    // One is there from the beginning.
    expect(await count()).toBe(501);
    await report(batch(1_000), {}, tenant);
    expect(await count()).toBe(1_000);
    expect(await eventsOf(server.db, tenant.deviceId)).toHaveLength(999);
  });

  it("go along with a device that moves, those that were removed stay under its name", async () => {
    const tenant = await seedTenant(server.db, server.services, "moving");
    const admin = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    await report([found("gone", { status: "removed" }), found("kept", { status: "allowed" })], {}, tenant);
    const place = { orgId: tenant.secondOrgId, name: "Annex" };
    const { id: siteId } = (await server.request("POST", "/orgs/sites", { token: admin.token, body: place })).body;
    const body = { orgId: tenant.secondOrgId, siteId };
    const moved = await server.request("POST", `/devices/${tenant.deviceId}/move-org`, { token: admin.token, body });
    expect(moved.status).toBe(200);
    const of = async (orgId: string) => (await get(`/security/threats?orgId=${orgId}`, admin.token)).data;
    expect(await of(tenant.orgId)).toMatchObject([{ name: "gone", deviceId: null, deviceName: "moving-pc-01" }]);
    expect(names({ data: await of(tenant.secondOrgId) }).toSorted()).toEqual(["Trojan:Win32/moving", "kept"]);
    expect(await get(`/security/status/${tenant.deviceId}`, admin.token)).toMatchObject({
      ...{ orgId: tenant.secondOrgId, providerId: "windows_defender", threatsDetected: 1 },
    });
    const confined = await server.signIn({ role: "Org Admin", orgId: tenant.orgId, siteIds: [tenant.siteId] });
    expect((await get("/security/threats", confined.token)).data).toEqual([]);
  });

  it("of devices out of service are shown with the device alone", async () => {
    const [deviceId] = await makeDevices(server, [
      { orgId: acme.orgId, siteId: acme.siteId, status: "decommissioned" },
    ]);
    const [row] = await rows();
    await server.db
      .insertInto("deviceThreats")
      .values({ ...(row as NonNullable<typeof row>), id: server.services.random.uuid(), deviceId, name: "old" })
      .execute();
    expect(names(await get("/security/threats?search=old"))).toEqual([]);
    expect(names(await get(`/security/threats/${deviceId}`))).toEqual(["old"]);
  });
});
