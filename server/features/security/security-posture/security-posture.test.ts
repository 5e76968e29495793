import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

const full = {
  provider: { id: "windows_defender", name: "Microsoft Defender", vendor: "Microsoft" },
  providerVersion: "4.18",
  definitionsVersion: "1.421",
  definitionsUpdatedAt: "2026-01-01T01:00:00+01:00",
  realTimeProtection: true,
  firewallEnabled: true,
  firewallProfiles: { domain: true, public: false },
  encryptionStatus: "encrypted",
  encryptionDetails: { volumes: [{ mount: "C:", protected: true, percentEncrypted: 100 }] },
  recoveryKeyEscrowed: true,
  gatekeeperEnabled: null,
  localAdmins: ["admin", { username: "pat", enabled: true }],
  passwordPolicy: { minLength: 12, complexity: true },
  openPorts: [{ port: 445, protocol: "tcp", process: "System" }],
  lastScanAt: "2026-01-01T00:00:00.000Z",
  lastScanType: "quick",
};

describe.each(databases)("the protection of devices on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  });
  afterAll(() => server?.stop());

  const report = async (body: object) => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    return server.request("PUT", `/agents/${acme.deviceId}/security`, { token: acme.agentToken, body });
  };
  const get = async (path: string, as = token) => (await server.request("GET", path, { token: as })).body;
  const shown = () => get(`/security/status/${acme.deviceId}`);
  const row = () =>
    server.db.selectFrom("deviceSecurity").selectAll().where("deviceId", "=", acme.deviceId).executeTakeFirst();
  const names = (body: { data: { deviceName: string }[] }) => body.data.map(({ deviceName }) => deviceName);

  it("is what the last report says, as a whole", async () => {
    expect((await report(full)).body).toEqual({ success: true, count: 1 });
    expect(await shown()).toEqual({
      ...{ deviceId: acme.deviceId, deviceName: "acme-pc-01", orgId: acme.orgId, os: "windows" },
      ...{
        providerId: "windows_defender",
        provider: full.provider,
        providerVersion: "4.18",
        definitionsVersion: "1.421",
      },
      ...{ definitionsUpdatedAt: "2026-01-01T00:00:00.000Z", status: "protected", riskLevel: "low" },
      ...{ lastScanAt: full.lastScanAt, lastScanType: "quick", threatsDetected: 0, realTimeProtection: true },
      ...{ firewallEnabled: true, encryptionStatus: "encrypted", gatekeeperEnabled: null },
    });
    expect(await row()).toMatchObject({
      localAdmins: [{ username: "admin" }, { username: "pat", enabled: true }],
      openPorts: full.openPorts,
      passwordPolicy: full.passwordPolicy,
      encryptionDetails: full.encryptionDetails,
    });
    await report({ firewallEnabled: false });
    expect(await shown()).toMatchObject({ provider: null, realTimeProtection: null, status: "at_risk" });
    await report({});
    expect(await shown()).toMatchObject({ firewallEnabled: null, status: null, riskLevel: null });
  });

  it("that is reported again writes nothing", async () => {
    await report(full);
    const before = await row();
    server.clock.advance(60_000);
    const { provider, ...rest } = full;
    await report({ ...rest, provider });
    expect(await row()).toEqual(before);
    await report({ ...full, openPorts: [] });
    expect(await row()).toMatchObject({ openPorts: [], updatedAt: server.clock.now() });
  });

  it("leaves out what is malformed, one by one", async () => {
    const answer = await report({
      ...full,
      provider: { id: "Windows Defender" },
      realTimeProtection: "yes",
      encryptionStatus: "half",
      lastScanAt: "yesterday",
      openPorts: [
        { port: 70_000, protocol: "tcp" },
        { port: 22, protocol: "tcp" },
      ],
      localAdmins: "everybody",
      lastScanType: `q${"u".repeat(300)}`,
    });
    expect(answer.body.ignoredFields.toSorted()).toEqual(
      ["encryptionStatus", "lastScanAt", "localAdmins", "openPorts", "provider", "realTimeProtection"].toSorted(),
    );
    expect(await shown()).toMatchObject({
      provider: null,
      realTimeProtection: null,
      encryptionStatus: null,
      lastScanAt: null,
    });
    expect(await row()).toMatchObject({ localAdmins: null, openPorts: [{ port: 22, protocol: "tcp" }] });
    expect((await shown()).lastScanType).toHaveLength(255);
  });

  it("is judged by its facts and threats, and by silence", async () => {
    const threat = (name: string) => ({ name, severity: "low", status: "failed", detectedAt: "2026-01-01T00:00:00Z" });
    await report({ ...full, threats: [threat("a")] });
    expect(await shown()).toMatchObject({ status: "at_risk", riskLevel: "medium", threatsDetected: 1 });
    // Threats stay where a report says nothing of them.
    await report({ ...full, realTimeProtection: false });
    expect(await shown()).toMatchObject({ status: "at_risk", riskLevel: "high", threatsDetected: 1 });
    await report({ ...full, realTimeProtection: false, threats: [threat("b"), threat("c")] });
    expect(await shown()).toMatchObject({ status: "unprotected", riskLevel: "critical", threatsDetected: 3 });
    const device = server.db.updateTable("devices").where("id", "=", acme.deviceId);
    await device.set({ status: "offline" }).execute();
    expect(await shown()).toMatchObject({ status: "offline", riskLevel: "critical" });
    await device.set({ status: "online" }).execute();
  });

  it("is listed by name, and found by what is shown of it", async () => {
    const place = { orgId: acme.secondOrgId, siteId: null };
    const { id: siteId } = (
      await server.request("POST", "/orgs/sites", { token, body: { orgId: acme.secondOrgId, name: "Depot" } })
    ).body;
    const made = await makeDevices(server, [
      { ...place, siteId, hostname: "B-silent", status: "offline" },
      { ...place, siteId, hostname: "c-new", osType: "linux" },
      { ...place, siteId, hostname: "d-awaited", status: "pending" },
      { ...place, siteId, hostname: "e-gone", status: "decommissioned" },
      { ...place, siteId, hostname: "f-safe", status: "online" },
      { ...place, siteId, hostname: "g-left", status: "offline" },
    ]);
    const safe = (await row()) as NonNullable<Awaited<ReturnType<typeof row>>>;
    const judged = { status: "protected", riskLevel: "low", threatCount: 0, providerId: "os_builtin" } as const;
    await server.db
      .insertInto("deviceSecurity")
      .values(
        [made[4], made[5]].map((deviceId) => ({
          ...safe,
          ...judged,
          orgId: acme.secondOrgId,
          deviceId: deviceId as string,
        })),
      )
      .execute();
    const list = async (query = "") => names(await get(`/security/status?${query}`));
    expect(await list()).toEqual(["acme-pc-01", "B-silent", "c-new", "f-safe", "g-left"]);
    expect(await list("status=unprotected")).toEqual(["acme-pc-01"]);
    expect(await list("status=protected")).toEqual(["f-safe"]);
    expect(await list("status=offline")).toEqual(["B-silent", "g-left"]);
    expect(await list("riskLevel=low")).toEqual(["f-safe"]);
    expect(await list("riskLevel=medium")).toEqual(["B-silent", "g-left"]);
    expect(await list("riskLevel=critical")).toEqual(["acme-pc-01"]);
    expect(await list("providerId=os_builtin&search=SAFE")).toEqual(["f-safe"]);
    expect(await list("os=linux")).toEqual(["c-new"]);
    expect(await list(`orgId=${acme.secondOrgId}&limit=1&page=2`)).toEqual(["c-new"]);
    const [, silent, unheard] = (await get("/security/status")).data;
    expect(silent).toMatchObject({ status: "offline", riskLevel: "medium", provider: null, threatsDetected: null });
    expect(unheard).toMatchObject({ status: null, riskLevel: null, realTimeProtection: null, threatsDetected: null });
  });

  it("is shown to who reaches the device, and not listed while its organization is hidden", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.secondSiteId] });
    expect(names(await get("/security/status", confined.token))).toEqual([]);
    const away = await server.request("GET", `/security/status/${acme.deviceId}`, confined);
    expect(away.body.code).toBe("SITE_ACCESS_DENIED");
    const other = await seedTenant(server.db, server.services, "other");
    const theirs = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect(names(await get("/security/status", theirs.token))).toEqual(["other-pc-01"]);
    expect((await server.request("GET", `/security/status/${acme.deviceId}`, theirs)).status).toBe(404);
    const refused = await server.request("GET", `/security/status?orgId=${acme.orgId}`, theirs);
    expect(refused.body.code).toBe("ORG_ACCESS_DENIED");
    await server.db.updateTable("organizations").set({ status: "archived" }).where("id", "=", other.orgId).execute();
    expect(names(await get("/security/status", theirs.token))).toEqual([]);
    expect(names(await get(`/security/status?orgId=${other.orgId}`, theirs.token))).toEqual(["other-pc-01"]);
  });

  it("is reported 12 times an hour and device, and not while the organization is wound down", async () => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    const send = () =>
      server.request("PUT", `/agents/${acme.deviceId}/security`, { token: acme.agentToken, body: full });
    const statuses: number[] = [];
    for (let sent = 0; sent < 13; sent += 1) statuses.push((await send()).status);
    expect(statuses).toEqual([...Array(12).fill(200), 429]);
    const before = await row();
    await server.db.updateTable("organizations").set({ status: "offboarding" }).where("id", "=", acme.orgId).execute();
    expect((await report({})).body.code).toBe("TENANT_OFFBOARDING");
    expect(await row()).toEqual(before);
  });
});
