import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

/** What is called the same by both tenants, and what each of them says of it. */
const shared = { source: "microsoft", externalId: "KB5000001" };

describe.each(databases)("lists of patches on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;
  let theirs: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    await server.db.deleteFrom("devicePatches").execute();
    await report(other, [
      { ...shared, title: "Their own words", severity: "critical", cveIds: ["CVE-2026-9999"], vendor: "Theirs" },
      { source: "custom", title: "Their secret tool", version: "7" },
    ]);
    server.clock.advance(3_600_000);
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    ({ token: theirs } = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId }));
    await report(acme, [
      { ...shared, title: "Cumulative update", severity: "low", kbNumber: "KB5000001", releaseDate: "2026-11-10" },
      { source: "third_party", packageId: "7zip", title: "7-Zip", version: "24.08", vendor: "Igor Pavlov" },
      { source: "third_party", packageId: "7zip", title: "7-Zip", version: "24.09", cveIds: ["CVE-2026-1111"] },
    ]);
    const [id] = await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.secondSiteId, hostname: "z-lab" }]);
    const first = await row(acme.deviceId, "Cumulative update");
    await server.db
      .insertInto("devicePatches")
      .values({
        ...first,
        ...{ deviceId: id as string, siteId: acme.secondSiteId, osType: "macos", status: "installed" },
        ...{ severityRank: 3, title: "Zeta update", titleKey: "zeta update", installedAt: server.clock.now() },
      })
      .execute();
  });
  afterAll(() => server?.stop());

  const report = async (tenant: Tenant, pending: object[]) => {
    const path = `/agents/${tenant.deviceId}/patches`;
    const answer = await server.request("PUT", path, { token: tenant.agentToken, body: { pending } });
    expect(answer.body).toEqual({ success: true, count: pending.length });
  };
  const row = (deviceId: string, title: string) =>
    server.db
      .selectFrom("devicePatches")
      .selectAll()
      .where("deviceId", "=", deviceId)
      .where("title", "=", title)
      .executeTakeFirstOrThrow();
  const get = async (path: string, as = token) => (await server.request("GET", path, { token: as })).body;
  const titles = async (query: string, as = token) =>
    (await get(`/patches${query}`, as)).data.map(({ title, version }: Record<string, string>) =>
      version === null ? title : `${title} ${version}`,
    );

  it("show what the caller's own devices say, and nothing that another tenant's device said", async () => {
    const mine = await get("/patches?sortBy=title");
    expect(JSON.stringify(mine)).not.toMatch(/[Tt]heir|9999/);
    expect(mine.pagination).toEqual({ page: 1, limit: 50, total: 3 });
    expect(mine.counts).toEqual({ microsoft: 1, apple: 0, linux: 0, third_party: 2, custom: 0 });
    const { orgId: _, ...update } = mine.data[2];
    expect(update).toMatchObject({
      ...{ ...shared, title: "Cumulative update", severity: "important", osTypes: ["windows", "macos"], vendor: null },
      ...{ pendingDeviceCount: 1, installedDeviceCount: 1, releaseDate: "2026-11-10T00:00:00.000Z" },
      kbArticleUrl: "https://support.microsoft.com/help/5000001",
    });
    const of = await get("/patches?search=KB5000001", theirs);
    expect(of.data).toMatchObject([{ id: update.id, title: "Their own words", severity: "critical" }]);
    expect(of.data[0]).toMatchObject({ pendingDeviceCount: 1, installedDeviceCount: 0 });
  });

  it("do not tell whether another tenant had the patch before", async () => {
    const [ours, theirOwn] = [await get("/patches?search=KB5000001"), await get("/patches?search=KB5000001", theirs)];
    expect(ours.data[0].createdAt > theirOwn.data[0].createdAt).toBe(true);
    // The id is made from what the patch is called: it holds no time.
    expect(ours.data[0].id[14]).toBe("8");
    const { id } = (await get("/patches?source=custom", theirs)).data[0];
    const [known, unknown] = [id, "0190c0de-0000-8000-8000-000000000000"];
    const answers = await Promise.all(
      [known, unknown].map((one) => server.request("GET", `/patches/${one}`, { token })),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.body.code).toBe(answers[1]?.body.code);
    // A patch that others have costs as much of the day's as one that nobody has.
    const left = async (tenant: Tenant, title: string) => {
      await report(tenant, [{ source: "custom", title, version: "7" }]);
      const key = `new-patches:${tenant.orgId}`;
      const limit = await server.db.selectFrom("rateLimits").select("used").where("key", "=", key).executeTakeFirst();
      return Number(limit?.used);
    };
    const before = await left(acme, "Nobody has this");
    expect(await left(acme, "Their secret tool")).toBe(before + 1);
    await server.db
      .deleteFrom("devicePatches")
      .where("source", "=", "custom")
      .where("orgId", "=", acme.orgId)
      .execute();
  });

  it("find by every filter a patch of which one device satisfies all of it", async () => {
    expect((await titles("?sortBy=title")).map((title: string) => title.slice(0, 5))).toEqual([
      "7-Zip",
      "7-Zip",
      "Cumul",
    ]);
    expect(await titles("?source=third_party&sortBy=title&sortDir=desc")).toHaveLength(2);
    expect(await titles("?severity=important")).toEqual(["Cumulative update"]);
    expect(await titles("?severity=important&os=windows")).toEqual([]);
    expect(await titles("?os=macos&search=ZETA")).toEqual(["Cumulative update"]);
    expect(await titles("?cveId=cve-2026-1111")).toEqual(["7-Zip 24.09"]);
    expect(await titles("?search=%25")).toEqual([]);
    expect((await titles("?sortBy=severity"))[0]).toBe("Cumulative update");
    expect((await titles("?sortBy=releaseDate"))[0]).toBe("Cumulative update");
    expect((await titles("?sortBy=releaseDate&sortDir=asc"))[0]).toBe("Cumulative update");
    expect((await get("/patches?source=third_party")).counts.microsoft).toBe(1);
    const second = await get("/patches?sortBy=title&limit=2&page=2");
    expect([second.data.length, second.pagination.total]).toEqual([1, 3]);
  });

  it("of one patch name its devices, those it waits on first", async () => {
    const { id } = (await get("/patches?source=microsoft")).data[0];
    const one = await get(`/patches/${id}`);
    expect(one.devices.map(({ hostname, status }: Record<string, string>) => [hostname, status])).toEqual([
      ["acme-pc-01", "pending"],
      ["z-lab", "installed"],
    ]);
    expect(one).toMatchObject({ title: "Cumulative update", pendingDeviceCount: 1, installedDeviceCount: 1 });
  });

  it("count devices of the caller's sites and organizations alone", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.secondSiteId] });
    const mine = await get("/patches", confined.token);
    expect(mine.data).toMatchObject([
      { title: "Zeta update", severity: "important", pendingDeviceCount: 0, installedDeviceCount: 1 },
    ]);
    const one = await get(`/patches/${mine.data[0].id}`, confined.token);
    expect(one.devices.map(({ hostname }: { hostname: string }) => hostname)).toEqual(["z-lab"]);
    const elsewhere = (await get("/patches?source=third_party")).data[0].id;
    expect((await get(`/patches/${elsewhere}`, confined.token)).code).toBe("NOT_FOUND");
    const chosen = { role: "Partner Admin", partnerId: acme.partnerId, orgAccess: "selected" } as const;
    const selected = await server.signIn({ ...chosen, orgIds: [acme.secondOrgId] });
    expect((await get("/patches", selected.token)).pagination.total).toBe(0);
    expect((await get(`/patches?orgId=${acme.orgId}`, selected.token)).code).toBe("ORG_ACCESS_DENIED");
    const whole = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    expect((await get("/patches", whole.token)).pagination.total).toBe(3);
    const { token: system } = await server.signIn({ role: "System Admin" });
    expect((await get("/patches?source=microsoft", system)).data).toMatchObject([{ pendingDeviceCount: 2 }]);
  });

  it("by source count patches, and those that wait somewhere", async () => {
    expect((await get("/patches/sources")).data).toEqual([
      { id: "microsoft", name: "Microsoft", os: ["windows", "macos"], patchCount: 1, pendingCount: 1 },
      { id: "third_party", name: "Third party", os: ["windows"], patchCount: 2, pendingCount: 2 },
    ]);
    expect((await get("/patches/sources?os=macos")).data).toMatchObject([{ id: "microsoft", patchCount: 1 }]);
  });
});
