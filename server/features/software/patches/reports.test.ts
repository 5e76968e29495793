import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { asOwner } from "../../../test/as-owner.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

const kb = (number: number, more: object = {}) => ({
  source: "microsoft",
  externalId: `KB${number}`,
  title: `Update KB${number}`,
  ...more,
});

const refused = {
  sqlite: ["create trigger refused before insert on device_patches begin select raise(abort, 'written'); end"],
  postgres: [
    "create function refuse() returns trigger language plpgsql as 'begin raise exception ''written''; end'",
    "create trigger refused before insert on device_patches for each row execute function refuse()",
  ],
};

describe.each(databases)("reports of patches on %s", (database) => {
  let server: TestServer;
  let names = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());

  /** A tenant whose device has reported nothing. */
  async function fresh(): Promise<Tenant> {
    names += 1;
    const tenant = await seedTenant(server.db, server.services, `t${names}`);
    await server.db.deleteFrom("devicePatches").where("orgId", "=", tenant.orgId).execute();
    return tenant;
  }
  const put = async (tenant: Tenant, body: object) => {
    await server.services.store.volatile.deleteFrom("rateLimits").where("key", "like", "agent%").execute();
    return server.request("PUT", `/agents/${tenant.deviceId}/patches`, { token: tenant.agentToken, body });
  };
  /** A report that writes a device's row fails, whatever it writes. */
  const refuseWrites = () => asOwner(server, refused[database]);
  const allowWrites = () =>
    asOwner(server, [`drop trigger refused${database === "postgres" ? " on device_patches" : ""}`]);
  const rows = (tenant: Tenant) =>
    server.db
      .selectFrom("devicePatches")
      .selectAll()
      .where("orgId", "=", tenant.orgId)
      .orderBy("titleKey")
      .orderBy("patchId")
      .execute();
  const statuses = async (tenant: Tenant) =>
    Object.fromEntries((await rows(tenant)).map(({ externalId, title, status }) => [externalId ?? title, status]));

  it("keep each fact on the device, and nothing but what names the patch in the shared row", async () => {
    const acme = await fresh();
    const secret = { title: "Confidential Payroll 9", vendor: "Acme Internal", severity: "critical" };
    const facts = { cveIds: ["cve-2026-1111"], requiresRestart: true, sizeBytes: 3_000_000_000, kbNumber: "KB1" };
    const answer = await put(acme, { pending: [kb(1, { ...secret, ...facts, releaseDate: "2026-11-10" })] });
    expect(answer.body).toEqual({ success: true, count: 1 });
    const [row] = await rows(acme);
    expect(row).toMatchObject({
      ...{ title: secret.title, vendor: secret.vendor, severityRank: 4, status: "pending", siteId: acme.siteId },
      ...{ cveIds: ["CVE-2026-1111"], requiresRestart: true, sizeBytes: 3_000_000_000 },
      releaseDate: "2026-11-10T00:00:00.000Z",
    });
    const shared = await server.db
      .selectFrom("patches")
      .selectAll()
      .where("id", "=", row?.patchId ?? "")
      .execute();
    expect(shared).toEqual([
      { id: row?.patchId, source: "microsoft", identity: '["externalId","KB1"]', unusedSince: null },
    ]);
  });

  it("leave out malformed items alone, and leave sections that are no list", async () => {
    const acme = await fresh();
    const bad = [
      { source: "nowhere", title: "x" },
      { source: "linux" },
      "nonsense",
      null,
      { source: "linux", title: 7 },
    ];
    const odd = kb(3, { severity: "terrible", cveIds: ["CVE-2026-2222", "no"], sizeBytes: -1, vendor: {} });
    const answer = await put(acme, { pending: [kb(2), ...bad, odd], installed: "none", full: "yes" });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { count: 2, ignoredFields: ["pending", "installed", "full"] },
    ]);
    expect(await statuses(acme)).toEqual({ KB2: "pending", KB3: "pending" });
    expect((await rows(acme))[1]).toMatchObject({ severityRank: 0, cveIds: ["CVE-2026-2222"], sizeBytes: null });
    await put(acme, { pending: { not: "a list" }, full: true });
    expect(await statuses(acme)).toEqual({ KB2: "pending", KB3: "pending" });
    await put(acme, { pending: [kb(2), ...bad], full: true });
    expect(await statuses(acme)).toEqual({ KB2: "pending", KB3: "missing" });
  });

  it("make pending patches missing that a full report has no more, and no others", async () => {
    const acme = await fresh();
    await put(acme, { pending: [kb(1), kb(2), kb(3)], installed: [kb(4)] });
    await put(acme, { pending: [kb(1)] });
    expect(await statuses(acme)).toEqual({ KB1: "pending", KB2: "pending", KB3: "pending", KB4: "installed" });
    await put(acme, { pending: [kb(1)], installed: [kb(2)], full: true });
    expect(await statuses(acme)).toEqual({ KB1: "pending", KB2: "installed", KB3: "missing", KB4: "installed" });
    await put(acme, { pending: [kb(3), kb(4)] });
    expect(await statuses(acme)).toEqual({ KB1: "pending", KB2: "installed", KB3: "pending", KB4: "pending" });
    await put(acme, { installed: [], full: true });
    expect(await statuses(acme)).toMatchObject({ KB1: "pending", KB3: "pending" });
    await put(acme, { pending: [], full: true });
    expect(await statuses(acme)).toEqual({ KB1: "missing", KB2: "installed", KB3: "missing", KB4: "missing" });
  });

  it("that say the same again, in any order, write nothing and tell nothing", async () => {
    const acme = await fresh();
    const report = {
      pending: [
        kb(1, { sizeBytes: 5_000_000_001, releaseDate: "2026-11-10", cveIds: ["CVE-2026-2222", "CVE-2026-1111"] }),
        kb(2),
      ],
      installed: [kb(5, { installedAt: "2026-10-01T08:00:00Z" }), kb(6)],
      full: true,
    };
    await put(acme, report);
    const [before, told] = [await rows(acme), (await eventsOf(server.db, acme.deviceId)).length];
    await refuseWrites();
    server.clock.advance(60_000);
    const again = { ...report, pending: report.pending.toReversed(), installed: report.installed.toReversed() };
    expect((await put(acme, again)).body).toEqual({ success: true, count: 4 });
    expect((await put(acme, { pending: [kb(2, { severity: "low" })] })).status).toBe(500);
    await allowWrites();
    expect(await rows(acme)).toEqual(before);
    expect(await eventsOf(server.db, acme.deviceId)).toHaveLength(told);
  });

  it("tell once of all that has begun to wait", async () => {
    const acme = await fresh();
    const waits = Array.from({ length: 25 }, (_, at) => kb(at + 10, { severity: at === 20 ? "critical" : "low" }));
    await put(acme, { pending: waits, installed: [kb(1)] });
    await put(acme, { installed: [kb(10), kb(2)] });
    await put(acme, { pending: [kb(10), kb(11)] });
    const told = await eventsOf(server.db, acme.deviceId);
    expect(told.map(({ kind, orgId, siteId, data }) => [kind, orgId, siteId, data["count"]])).toEqual([
      ["patch.available", acme.orgId, acme.siteId, 25],
      ["patch.available", acme.orgId, acme.siteId, 1],
    ]);
    const patches = told[0]?.data["patches"] as object[];
    expect([patches.length, patches[0]]).toMatchObject([20, { title: "Update KB30", severity: "critical" }]);
    expect(told[1]?.data["patches"]).toMatchObject([{ title: "Update KB10" }]);
  });

  it("of 5,000 waiting and 5,000 installed patches are taken whole, of more as much as may be and never as full", async () => {
    const acme = await fresh();
    const many = (from: number, length: number, facts: object = { cveIds: ["CVE-2026-1234"], vendor: "Contoso" }) =>
      Array.from({ length }, (_, at) => kb(from + at, { ...facts, version: "1.0" }));
    const answer = await put(acme, { pending: many(10_000, 5_000), installed: many(20_000, 5_000, {}), full: true });
    expect([answer.status, answer.body]).toEqual([200, { success: true, count: 10_000 }]);
    const count = async (status: string) => (await rows(acme)).filter((row) => row.status === status).length;
    expect([await count("pending"), await count("installed")]).toEqual([5_000, 5_000]);
    const cut = await put(acme, { pending: many(20_000, 5_001), full: true });
    expect(cut.body).toMatchObject({ count: 5_000, ignoredFields: ["pending"] });
    expect([await count("pending"), await count("missing")]).toEqual([10_000, 0]);
    // Its organization has had its 10,000 new ones of the day.
    const late = await put(acme, { pending: [kb(1), kb(10_000)] });
    expect(late.body).toMatchObject({ success: true, count: 1 });
    expect(await statuses(acme)).not.toHaveProperty("KB1");
  }, 60_000);

  it("of two tenants at once make one shared row each and wait for each other in no circle", async () => {
    const [a, b, c] = [await fresh(), await fresh(), await fresh()];
    const list = Array.from({ length: 900 }, (_, at) => kb(50_000 + at));
    const orders = [list, list.toReversed(), [...list.slice(450), ...list.slice(0, 450)]];
    const answers = await Promise.all([a, b, c].map((tenant, at) => put(tenant, { pending: orders[at] })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const shared = await server.db.selectFrom("patches").select("id").where("identity", "like", '%"KB50%').execute();
    expect(shared).toHaveLength(900);
    for (const tenant of [a, b, c]) expect(await rows(tenant)).toHaveLength(900);
  });

  it("go with a device to another organization and site, and end with it", async () => {
    const acme = await fresh();
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    await put(acme, { pending: [kb(1)], installed: [kb(2)] });
    await server.request("PATCH", `/devices/${acme.deviceId}`, { token, body: { siteId: acme.secondSiteId } });
    expect((await rows(acme)).map(({ siteId }) => siteId)).toEqual([acme.secondSiteId, acme.secondSiteId]);
    const site = await server.request("POST", "/orgs/sites", {
      token,
      body: { orgId: acme.secondOrgId, name: "Annex" },
    });
    const to = { orgId: acme.secondOrgId, siteId: site.body.id };
    const path = `/devices/${acme.deviceId}`;
    expect((await server.request("POST", `${path}/move-org`, { token, body: to })).status).toBe(200);
    const moved = await server.db
      .selectFrom("devicePatches")
      .selectAll()
      .where("deviceId", "=", acme.deviceId)
      .execute();
    expect(moved.map(({ orgId, siteId }) => ({ orgId, siteId }))).toEqual([to, to]);
    expect((await server.request("DELETE", path, { token })).status).toBe(200);
    const left = server.db.selectFrom("devicePatches").select("status").where("deviceId", "=", acme.deviceId);
    expect(await left.execute()).toEqual([]);
  });
});
