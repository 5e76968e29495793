import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { createClient } from "#sdk/client";
import { chunks } from "#server/db/chunks";
import { replaceHardware, replaceInterfaces } from "#server/features/fleet/devices/inventory";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("partner API exports on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  beforeEach(async () => {
    made += 1;
    server.clock.advance(1_000);
    acme = await seedTenant(server.db, server.services, `tenant-${made}`);
    server.clock.advance(1_000);
  });
  afterAll(() => server?.stop());

  const get = (path: string, key = acme.partnerKey) =>
    server.request("GET", `/partner-api${path}`, { headers: { "x-api-key": key } });
  const addSites = async (count: number, change: object = {}) => {
    const now = server.clock.now();
    const rows = Array.from({ length: count }, (_, at) => ({
      id: server.services.random.uuid(),
      orgId: acme.orgId,
      name: `site ${at}`,
      timezone: "UTC",
      address: null,
      contact: null,
      settings: {},
      createdAt: now,
      updatedAt: now,
      ...change,
    }));
    await server.db.insertInto("sites").values(rows).execute();
    return rows.map(({ id }) => id);
  };
  /** The present, by the clock that changes are stamped with: the database's. */
  const moment = async (): Promise<string> => (await get("/organizations?limit=1")).body.snapshotAt;
  /** Every row of a walk; `between` runs after each page. */
  const walk = async (query: string, between: (page: number) => Promise<unknown> = async () => undefined) => {
    const rows: { id: string; sourceUpdatedAt: string; name: string }[] = [];
    const snapshots = new Set<string>();
    let cursor: string | null = "";
    for (let page = 1; cursor !== null; page += 1) {
      const { status, body } = await get(`${query}&cursor=${encodeURIComponent(cursor)}`);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.hasMore).toBe(body.nextCursor !== null);
      rows.push(...body.data);
      snapshots.add(body.snapshotAt);
      cursor = body.nextCursor;
      await between(page);
    }
    expect(snapshots.size).toBe(1);
    return { rows, ids: rows.map(({ id }) => id), snapshotAt: [...snapshots][0] as string };
  };

  it("gives every row once, in the order of ids, whatever the size of the pages", async () => {
    const ids = [...(await addSites(23)), acme.siteId, acme.secondSiteId].sort();
    for (const limit of [1, 7, 25, 500]) expect((await walk(`/sites?limit=${limit}`)).ids).toEqual(ids);
  });

  it("is complete and of one moment while rows are changed, made and deleted between its pages", async () => {
    const ids = [...(await addSites(20)), acme.siteId, acme.secondSiteId].sort();
    const doomed = ids.at(-1) as string;
    const { ids: seen, snapshotAt } = await walk("/sites?limit=4", async (page) => {
      server.clock.advance(1_000);
      const now = server.clock.now();
      await server.db
        .updateTable("sites")
        .set({ updatedAt: now, name: "renamed" })
        .where("orgId", "=", acme.orgId)
        .execute();
      await addSites(2);
      if (page === 2) await server.db.deleteFrom("sites").where("id", "=", doomed).execute();
    });
    expect(seen).toEqual(ids.filter((id) => id !== doomed));
    const next = await walk(`/sites?limit=4&updatedSince=${snapshotAt}`);
    const alive = await server.db.selectFrom("sites").select("id").where("orgId", "=", acme.orgId).execute();
    const gone = next.rows.filter((row) => "removed" in row);
    expect(gone.map(({ id }) => id)).toEqual([doomed]);
    expect(next.ids.toSorted()).toEqual([...alive.map(({ id }) => id), doomed].sort());
  });

  it("gives changes after a moment, oldest first; a row that changes meanwhile comes with the next walk", async () => {
    const since = await moment();
    const ids = await addSites(6);
    const rename = async (id: string, name: string) => {
      await pause(2);
      await server.db.updateTable("sites").set({ name }).where("id", "=", id).execute();
    };
    for (const id of ids) await rename(id, "renamed");
    const late = ids.at(-1) as string;
    const first = await walk(`/sites?limit=2&updatedSince=${since}`, async (page) => {
      if (page === 1) await rename(late, "renamed again");
    });
    expect(first.ids).toEqual(ids.slice(0, -1));
    expect(first.rows.map((row) => row.sourceUpdatedAt)).toEqual(first.rows.map((row) => row.sourceUpdatedAt).sort());
    expect((await walk(`/sites?limit=2&updatedSince=${first.snapshotAt}`)).ids).toEqual([late]);
    expect((await walk(`/sites?limit=2&updatedSince=${await moment()}`)).ids).toEqual([]);
    const withOffset = since.replace("Z", "+00:00");
    expect((await walk(`/sites?limit=9&updatedSince=${encodeURIComponent(withOffset)}`)).ids).toHaveLength(6);
  });

  it("walks rows of one and the same moment without losing or repeating one", async () => {
    const since = await moment();
    // One statement, on SQLite also one moment.
    const ids = await addSites(9);
    const { rows } = await walk(`/sites?limit=2&updatedSince=${since}`);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.sort());
    const places = rows.map(({ sourceUpdatedAt, id }) => sourceUpdatedAt + id);
    expect(places).toEqual(places.toSorted());
  });

  it.runIf(database === "postgres")(
    "waits for a write that is under way, so that its row is in this walk",
    async () => {
      const id = server.services.random.uuid();
      const { body } = await server.db
        .transaction()
        .execute(async (tx) => {
          const now = server.clock.now();
          const row = {
            id,
            orgId: acme.orgId,
            name: "slow",
            timezone: "UTC",
            settings: {},
            createdAt: now,
            updatedAt: now,
          };
          await tx
            .insertInto("sites")
            .values({ ...row, address: null, contact: null })
            .execute();
          server.clock.advance(1_000);
          const asked = get("/sites?limit=500");
          await new Promise((resolve) => setTimeout(resolve, 300));
          return { body: asked };
        })
        .then(async ({ body: asked }) => asked);
      expect(body.data.map((row: { id: string }) => row.id)).toContain(id);
    },
  );

  it("takes a cursor only as it was given, for its own resource, filters and partner, for a day", async () => {
    const other = await seedTenant(server.db, server.services, `other-${made}`);
    await addSites(3);
    const { body } = await get("/sites?limit=1");
    const cursor: string = body.nextCursor;
    const [payload = "", signature = ""] = cursor.split(".");
    const opened = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(opened).toMatchObject({ v: 1, resource: "sites", partnerId: acme.partnerId, snapshotAt: body.snapshotAt });
    const forged = Buffer.from(JSON.stringify({ ...opened, partnerId: other.partnerId })).toString("base64url");
    const refused = async (path: string, key?: string) => {
      const answer = await get(path, key);
      expect([path, answer.status, answer.body.code]).toEqual([path, 400, "INVALID_CURSOR"]);
    };
    await refused(`/sites?cursor=${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`);
    await refused(`/sites?cursor=${forged}.${signature}`, other.partnerKey);
    await refused(`/sites?cursor=${cursor}`, other.partnerKey);
    await refused(`/sites?cursor=${cursor}x`);
    await refused(`/sites?cursor=${payload}`);
    await refused("/sites?cursor=x");
    await refused(`/organizations?cursor=${cursor}`);
    await refused(`/sites?cursor=${cursor}&orgId=${acme.orgId}`);
    await refused(`/sites?cursor=${cursor}&updatedSince=${await moment()}`);
    expect((await get(`/sites?cursor=${cursor}`)).status).toBe(200);
    server.clock.advance(24 * 3_600_000);
    await refused(`/sites?cursor=${cursor}`);
  });

  it("refuses parameters it does not know, and clamps the size of a page", async () => {
    expect((await get("/organizations?siteId=x")).body.code).toBe("VALIDATION_ERROR");
    expect((await get("/sites?page=2")).body.code).toBe("VALIDATION_ERROR");
    expect((await get("/sites?updatedSince=yesterday")).body.code).toBe("VALIDATION_ERROR");
    expect((await get(`/sites?cursor=${"x".repeat(4_097)}`)).body.code).toBe("VALIDATION_ERROR");
    await addSites(501);
    expect((await get("/sites?limit=9999")).body.data).toHaveLength(500);
    expect((await get("/sites")).body.data).toHaveLength(100);
  });

  it("narrows to an organization and a site, and knows nothing of those out of reach", async () => {
    const other = await seedTenant(server.db, server.services, `other-${made}`);
    expect((await get(`/devices?orgId=${acme.orgId}&siteId=${acme.siteId}`)).body.data).toHaveLength(1);
    expect((await get(`/devices?siteId=${acme.secondSiteId}`)).body.data).toEqual([]);
    expect((await get(`/sites?orgId=${acme.secondOrgId}`)).body.data).toEqual([]);
    for (const path of [
      `/sites?orgId=${other.orgId}`,
      `/devices?siteId=${other.siteId}`,
      `/devices?orgId=${acme.secondOrgId}&siteId=${acme.siteId}`,
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    await server.db.updateTable("organizations").set({ status: "suspended" }).where("id", "=", acme.orgId).execute();
    expect((await get("/devices")).body.data).toEqual([]);
    expect((await get("/sites")).body.data).toEqual([]);
    expect((await get(`/sites?orgId=${acme.orgId}`)).status).toBe(404);
    expect((await get("/organizations")).body.data.map((row: { id: string }) => row.id)).toEqual([acme.secondOrgId]);
  });

  it("withholds rows with a text that looks like a secret, says where it is and goes on", async () => {
    const [bad = "", good = ""] = await addSites(2);
    const leak = "admin password=hunter2";
    await server.db
      .updateTable("sites")
      .set({ address: { line1: leak } })
      .where("id", "=", bad)
      .execute();
    const { body } = await get("/sites");
    expect(JSON.stringify(body)).not.toContain("hunter2");
    expect(body.blocked).toEqual([
      { resource: "sites", id: bad, orgId: acme.orgId, reason: "secret_detected", fieldPaths: ["address.line1"] },
    ]);
    expect(body.data.map((row: { id: string }) => row.id)).toContain(good);
    expect((await get("/organizations")).body).not.toHaveProperty("blocked");
  });

  it("is walked to its end by the SDK, which refuses other calls with a partner key before sending them", async () => {
    const ids = [...(await addSites(5)), acme.siteId, acme.secondSiteId].sort();
    const rmm = createClient({ baseUrl: server.url, credentials: { apiKey: acme.partnerKey } });
    const seen: string[] = [];
    for await (const site of rmm.partnerApi.sites({ query: { orgId: acme.orgId, limit: 2 } })) seen.push(site.id);
    expect(seen).toEqual(ids);
    await expect(rmm.sites.list()).rejects.toMatchObject({ code: "WRONG_CREDENTIAL" });
  });

  it("gives a row the same revision until it changes", async () => {
    const revision = async () => (await get("/organizations")).body.data[0].revision;
    const before = await revision();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(await revision()).toBe(before);
    await server.db
      .updateTable("organizations")
      .set({ name: "other" })
      .where("partnerId", "=", acme.partnerId)
      .execute();
    expect(await revision()).not.toBe(before);
  });

  it("gives the first thousand programs of each device, and says where more or nothing is known", async () => {
    const quiet = (await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId }]))[0] as string;
    const mine = { orgId: acme.orgId, deviceId: acme.deviceId };
    await server.db
      .insertInto("deviceSoftwareReports")
      .values({ ...mine, firstReportedAt: server.clock.now() })
      .execute();
    const names = Array.from({ length: 1_001 }, (_, at) => `program ${String(at).padStart(4, "0")}`);
    const facts = { version: "1", vendor: "V", installDate: "2026-01-02", installLocation: "/x", uninstallString: "y" };
    const rows = names.map((name) => ({ ...mine, ...facts, id: server.services.random.uuid(), name }));
    for (const some of chunks(rows)) await server.db.insertInto("deviceSoftware").values(some).execute();
    const softwareOf = async (id: string) =>
      (await get(`/device-software?siteId=${acme.siteId}`)).body.data.find((row: { id: string }) => row.id === id);
    const { software, collection } = await softwareOf(acme.deviceId);
    expect(collection).toEqual({ total: 1_001, included: 1_000, complete: false });
    expect(software.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, 1_000));
    expect(software[0]).toEqual({ name: "program 0000", version: "1", vendor: "V", installedOn: "2026-01-02" });
    expect(await softwareOf(quiet)).toMatchObject({
      ...{ deviceId: quiet, orgId: acme.orgId, siteId: acme.siteId, software: [] },
      collection: { total: 0, included: 0, complete: false },
    });
    await server.db.deleteFrom("deviceSoftware").where("name", "=", "program 0007").execute();
    expect((await softwareOf(acme.deviceId)).collection).toEqual({ total: 1_000, included: 1_000, complete: true });
    await server.db
      .updateTable("deviceSoftware")
      .set({ vendor: "pwd=hunter2" })
      .where("name", "=", names[3]!)
      .execute();
    const { body } = await get("/device-software");
    expect(JSON.stringify(body)).not.toContain("hunter2");
    expect(body.blocked).toMatchObject([{ resource: "device-software", fieldPaths: ["software[3].vendor"] }]);
  });

  it("gives at most 200 tags and 500 disks, interfaces and addresses of a device, and says that there are more", async () => {
    const place = { orgId: acme.orgId, deviceId: acme.deviceId };
    const numbered = (count: number) => Array.from({ length: count }, (_, at) => at);
    const tags = numbered(201).map((at) => `tag ${at}`);
    await server.db.updateTable("devices").set({ tags }).where("id", "=", acme.deviceId).execute();
    const disks = numbered(501).map((at) => ({
      ...{ ...place, id: server.services.random.uuid(), mountPoint: `/mnt/${at}`, fsType: "ext4" },
      ...{ totalGb: 1, usedGb: 0, freeGb: 1, usedPercent: 0 },
    }));
    for (const some of chunks(disks)) await server.db.insertInto("deviceDisks").values(some).execute();
    const interfaces = numbered(501).map((at) => ({
      interfaceName: `eth${at}`,
      ipAddress: `10.0.${Math.floor(at / 250)}.${at % 250}`,
    }));
    await server.db.transaction().execute(async (tx) => {
      const device = { id: acme.deviceId, orgId: acme.orgId };
      await replaceInterfaces(tx, device, interfaces, server.services.random);
    });
    expect((await get("/devices")).body.data[0].tags).toHaveLength(200);
    const [row] = (await get("/device-inventory")).body.data;
    for (const list of ["disks", "interfaces", "addresses"]) {
      expect(row[list], list).toHaveLength(500);
      expect(row.collections[list]).toEqual({ total: 501, included: 500, complete: false });
    }
  });

  it("gives live devices with their identity and inventory", async () => {
    const now = server.clock.now();
    const place = { id: acme.deviceId, orgId: acme.orgId };
    await server.db.transaction().execute(async (tx) => {
      await replaceHardware(
        tx,
        place,
        { serialNumber: "S1", manufacturer: "M", cpuModel: "C", cpuCores: 8, ramTotalMb: 16_384 },
        now,
      );
      const facts = [
        { interfaceName: "eth0", macAddress: "aa:bb", ipAddress: "192.0.2.7", isPrimary: true },
        { interfaceName: "eth1", ipAddress: "2001:db8::7" },
        { interfaceName: "lo" },
      ];
      await replaceInterfaces(tx, place, facts, server.services.random);
    });
    const disk = { orgId: acme.orgId, deviceId: acme.deviceId, mountPoint: "/", fsType: "ext4", totalGb: 99.5 };
    await server.db
      .insertInto("deviceDisks")
      .values({ ...disk, id: server.services.random.uuid(), usedGb: 1, freeGb: 98.5, usedPercent: 1 })
      .execute();
    const [device] = (await get("/devices")).body.data;
    expect(device).toMatchObject({
      id: acme.deviceId,
      type: { os: "windows", role: "workstation", virtual: false },
      operatingSystem: { edition: "11", build: null, architecture: "x64" },
      hardwareIdentity: { serialNumber: "S1", manufacturer: "M", model: null },
    });
    const [inventory] = (await get("/device-inventory")).body.data;
    expect(inventory).toMatchObject({
      deviceId: acme.deviceId,
      hardware: { processor: { model: "C", cores: 8 }, memory: { totalMb: 16_384 } },
      interfaces: [
        { name: "eth0", macAddress: "aa:bb", primary: true },
        { name: "eth1", macAddress: null, primary: false },
        { name: "lo", macAddress: null, primary: false },
      ],
      addresses: [
        { interfaceName: "eth0", address: "192.0.2.7", family: "ipv4", assignment: null, active: true },
        { interfaceName: "eth1", address: "2001:db8::7", family: "ipv6", assignment: null, active: true },
      ],
      disks: [{ mountPoint: "/", fileSystem: "ext4", totalGb: 99.5 }],
      collections: {
        disks: { total: 1, included: 1, complete: true },
        interfaces: { total: 3, included: 3, complete: true },
      },
    });
    await server.db.updateTable("devices").set({ status: "decommissioned" }).where("id", "=", acme.deviceId).execute();
    expect((await get("/devices")).body.data).toEqual([]);
    expect((await get("/device-inventory")).body.data).toEqual([]);
  });
});
