import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { enrollFleet } from "#fixtures/simulators/agent/fleet";
import { seedTenant, type Tenant } from "#fixtures/world";
import { migration } from "#server/db/migrations/202611281350-credentials-export-changes";
import { replaceHardware, replaceInterfaces } from "#server/features/fleet/devices/inventory";
import { DAY, heldClock } from "#server/platform/clock";
import { asOwner } from "../../../test/as-owner.ts";
import { makeDevices } from "../../../test/devices.ts";
import { makeKey, makeSite } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { forgetRemovals } from "./forget-removals.ts";

/** Devices that report. */
const FLEET = 60;

interface Row {
  id: string;
  orgId: string;
  siteId: string | null;
  sourceUpdatedAt: string;
  removed?: true;
  revision?: string;
  hostname?: string;
  edges?: object[];
}

describe.each(databases)("incremental exports on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "10000" });
  });
  beforeEach(async () => {
    made += 1;
    acme = await seedTenant(server.db, server.services, `tenant-${made}`);
    token = (await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId })).token;
  });
  afterAll(() => server?.stop());

  const get = (path: string, key = acme.partnerKey) =>
    server.request("GET", `/partner-api${path}`, { headers: { "x-api-key": key } });
  /** The present, by the clock that changes are stamped with: the database's. */
  const moment = async (): Promise<string> => (await get("/organizations?limit=1")).body.snapshotAt;
  const walk = async (
    path: string,
    options: { key?: string; limit?: number; between?: () => Promise<unknown> } = {},
  ): Promise<{ rows: Row[]; snapshotAt: string }> => {
    const rows: Row[] = [];
    let cursor: string | null = "";
    let snapshotAt = "";
    while (cursor !== null) {
      const query = `${path.includes("?") ? "&" : "?"}limit=${options.limit ?? 500}&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await get(`${path}${query}`, options.key);
      expect(status, JSON.stringify(body)).toBe(200);
      rows.push(...body.data);
      ({ snapshotAt } = body);
      cursor = body.nextCursor;
      await options.between?.();
    }
    return { rows, snapshotAt };
  };
  const since = async (resource: string, at: string, key?: string) =>
    (await walk(`/${resource}?updatedSince=${at}`, key ? { key } : {})).rows;
  const told = (rows: Row[]) => rows.map((row) => [row.id, row.removed === true] as const);
  const manage = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, path, { token, ...(body ? { body } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const setDevice = (change: object, id = acme.deviceId) =>
    server.db.updateTable("devices").set(change).where("id", "=", id).execute();
  const resources = ["devices", "device-inventory", "device-software", "device-relationships"];
  const principalPath = () => `/partner-service-principals/${acme.partnerPrincipalId}`;

  it("are complete while a fleet reports, which by itself changes nothing that is exported", async () => {
    const fleet = await enrollFleet({
      baseUrl: server.url,
      enrollmentKey: (await makeKey(server, { orgId: acme.orgId, siteId: acme.siteId })).raw,
      count: FLEET,
      seed: `fleet-${made}`,
      now: () => server.clock.nowMs(),
    });
    const report = async () => {
      server.clock.advance(61_000);
      await Promise.all(fleet.agents.map((agent) => agent.heartbeat()));
    };
    // The simulator's first report tells facts that enrolling did not.
    await report();
    const start = await moment();
    await report();
    for (const resource of resources) expect(await since(resource, start)).toEqual([]);
    const full = (await walk("/devices")).rows;
    expect(full).toHaveLength(FLEET + 1);
    const ids = fleet.agents.map(({ identity }) => identity.deviceId);
    const [changed, later] = [ids.slice(0, 36), ids.slice(36, 45)];
    for (const id of changed) await setDevice({ displayName: "renamed" }, id);
    let pages = 0;
    const walked = await walk(`/devices?updatedSince=${start}`, {
      limit: 15,
      async between() {
        await report();
        pages += 1;
        if (pages === 1) for (const id of later) await setDevice({ tags: ["late"] }, id);
      },
    });
    expect(pages).toBe(3);
    expect(walked.rows.map(({ id }) => id).toSorted()).toEqual(changed.toSorted());
    const times = walked.rows.map(({ sourceUpdatedAt, id }) => sourceUpdatedAt + id);
    expect(times).toEqual(times.toSorted());
    const next = await since("devices", walked.snapshotAt);
    expect(next.map(({ id }) => id).toSorted()).toEqual(later.toSorted());
    const again = (await walk("/devices")).rows;
    const same = full.filter(({ id }) => !changed.includes(id) && !later.includes(id));
    for (const row of same) expect(again).toContainEqual(row);
  }, 180_000);

  it("move a device for each part of it that its exports show, and for no other", async () => {
    const device = { id: acme.deviceId, orgId: acme.orgId };
    const changes: [string, () => Promise<unknown>, string[]][] = [
      ["tags", () => setDevice({ tags: ["a"] }), ["devices"]],
      ["the same again", () => setDevice({ tags: ["a"], hostname: `tenant-${made}-pc-01` }), []],
      ["hostname", () => setDevice({ hostname: "other" }), ["devices"]],
      ["presence", () => setDevice({ status: "offline", lastSeenAt: server.clock.now(), lastUser: "x" }), []],
      ["agent", () => setDevice({ agentVersion: "9", customFields: { a: 1 }, uptimeSeconds: 5 }), []],
      ["site", () => setDevice({ siteId: acme.secondSiteId }), resources],
      [
        "hardware",
        () =>
          server.db.transaction().execute((tx) => replaceHardware(tx, device, { cpuModel: "C" }, server.clock.now())),
        // The row is new, with all that it shows.
        ["devices", "device-inventory"],
      ],
      [
        "the same hardware",
        () =>
          server.db.transaction().execute((tx) => replaceHardware(tx, device, { cpuModel: "C" }, server.clock.now())),
        [],
      ],
      [
        "serial number",
        () =>
          server.db
            .transaction()
            .execute((tx) => replaceHardware(tx, device, { cpuModel: "C", serialNumber: "S" }, server.clock.now())),
        ["devices"],
      ],
      ...[["eth0"], ["eth0", "eth1"], ["eth1", "eth0"], ["eth1"]].map((names, at): (typeof changes)[number] => [
        `interfaces ${names}`,
        () =>
          server.db.transaction().execute((tx) =>
            replaceInterfaces(
              tx,
              device,
              names.map((interfaceName) => ({ interfaceName })),
              server.services.random,
            ),
          ),
        at === 2 ? [] : ["device-inventory"],
      ]),
    ];
    const disk = { id: server.services.random.uuid(), orgId: acme.orgId, deviceId: acme.deviceId };
    const ofDisk = (facts: object) => server.db.updateTable("deviceDisks").set(facts).where("id", "=", disk.id);
    const disks = { mountPoint: "/", fsType: "ext4", totalGb: 100, usedGb: 1, freeGb: 99, usedPercent: 1 };
    const program = { ...disk, id: server.services.random.uuid() };
    const installed = { version: "1", vendor: null, installDate: null, installLocation: null, uninstallString: null };
    const ofProgram = (facts: object) =>
      server.db.updateTable("deviceSoftware").set(facts).where("id", "=", program.id).execute();
    const inventory = ["device-inventory"];
    const software = ["device-software"];
    changes.push(
      [
        "disk",
        () =>
          server.db
            .insertInto("deviceDisks")
            .values({ ...disk, ...disks })
            .execute(),
        inventory,
      ],
      ["use of a disk", () => ofDisk({ usedGb: 50, freeGb: 50, usedPercent: 50 }).execute(), []],
      ["size of a disk", () => ofDisk({ totalGb: 200 }).execute(), inventory],
      ["disk gone", () => server.db.deleteFrom("deviceDisks").where("id", "=", disk.id).execute(), inventory],
      [
        "first report of software",
        () =>
          server.db
            .insertInto("deviceSoftwareReports")
            .values({ orgId: acme.orgId, deviceId: acme.deviceId, firstReportedAt: server.clock.now() })
            .execute(),
        software,
      ],
      [
        "program",
        () =>
          server.db
            .insertInto("deviceSoftware")
            .values([
              { ...program, ...installed, name: "Editor" },
              { ...program, ...installed, id: server.services.random.uuid(), name: "Other" },
            ])
            .execute(),
        software,
      ],
      ["place of a program", () => ofProgram({ installLocation: "/opt", version: "1" }), []],
      ["version of a program", () => ofProgram({ version: "2" }), software],
      ["program gone", () => server.db.deleteFrom("deviceSoftware").where("id", "=", program.id).execute(), software],
    );
    for (const [what, change, moved] of changes) {
      const start = await moment();
      await change();
      const seen: string[] = [];
      for (const resource of resources) {
        const rows = await since(resource, start);
        if (rows.length > 0) seen.push(resource);
        expect(told(rows), `${what} ${resource}`).toEqual(rows.length > 0 ? [[acme.deviceId, false]] : []);
      }
      expect(seen, what).toEqual(moved);
    }
  });

  it("move organizations and sites for exported fields alone", async () => {
    const start = await moment();
    await manage("PATCH", `/orgs/organizations/${acme.orgId}`, { settings: { note: "x" }, maxDevices: 5 });
    await manage("PATCH", `/orgs/sites/${acme.siteId}`, { settings: { note: "x" } });
    for (const resource of ["organizations", "sites"]) expect(await since(resource, start)).toEqual([]);
    await manage("PATCH", `/orgs/organizations/${acme.orgId}`, { name: "Other" });
    await manage("PATCH", `/orgs/sites/${acme.siteId}`, { address: { city: "Bilbao", region: "Bizkaia" } });
    expect(told(await since("organizations", start))).toEqual([[acme.orgId, false]]);
    expect(told(await since("sites", start))).toEqual([[acme.siteId, false]]);
  });

  it("tell rows that were deleted or decommissioned, where they were, and nothing more of them", async () => {
    const siteId = await makeSite(server, acme.orgId, "Doomed");
    const start = await moment();
    await manage("DELETE", `/orgs/sites/${siteId}`);
    await setDevice({ status: "decommissioned" });
    const [site] = await since("sites", start);
    expect(site).toEqual({
      ...{ id: siteId, orgId: acme.orgId, siteId, removed: true },
      sourceUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    for (const resource of resources) {
      const [device, ...more] = await since(resource, start);
      expect(more).toEqual([]);
      expect(device).toMatchObject({ id: acme.deviceId, orgId: acme.orgId, siteId: acme.siteId, removed: true });
      expect(Object.keys(device ?? {})).toHaveLength(5);
      expect((await walk(`/${resource}`)).rows).toEqual([]);
    }
    const gone = await moment();
    expect(await since("devices", gone)).toEqual([]);
    await setDevice({ status: "online" });
    expect(told(await since("devices", gone))).toEqual([[acme.deviceId, false]]);
    expect(told(await since("devices", start))).toEqual([[acme.deviceId, false]]);
  });

  it("tell all rows of an organization that is closed as removed, and as changed when it opens again", async () => {
    const open = await moment();
    const status = (value: "suspended" | "active") =>
      server.db.updateTable("organizations").set({ status: value }).where("id", "=", acme.orgId).execute();
    const mine = { organizations: [acme.orgId], sites: [acme.siteId, acme.secondSiteId], devices: [acme.deviceId] };
    await status("suspended");
    const closed = await moment();
    // Nobody outside was told of this one, so nobody is told that it is gone.
    const [unseen] = await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId }]);
    for (const [resource, ids] of Object.entries(mine)) {
      const rows = await since(resource, open);
      expect(rows.every(({ removed }) => removed)).toBe(true);
      expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(await since(resource, closed)).toEqual([]);
    }
    await setDevice({ status: "decommissioned" }, unseen);
    expect(await since("devices", closed)).toEqual([]);
    await status("active");
    for (const [resource, ids] of Object.entries(mine)) {
      // What came and went in between may be told as gone: it is in reach by now.
      const rows = (await since(resource, closed)).filter(({ id }) => id !== unseen);
      expect(rows.some(({ removed }) => removed)).toBe(false);
      expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect((await walk(`/${resource}`)).rows.filter(({ orgId }) => orgId === acme.orgId)).toEqual(
        rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      );
    }
    const before = await moment();
    await manage("DELETE", `/orgs/organizations/${acme.orgId}`);
    expect(told(await since("devices", before))).toEqual([[acme.deviceId, true]]);
    expect(told(await since("organizations", before))).toEqual([[acme.orgId, true]]);
  });

  it("tell a principal what its own reach gains and loses, and nothing of what it never reached", async () => {
    const elsewhere = await makeSite(server, acme.secondOrgId);
    const [other] = await makeDevices(server, [{ orgId: acme.secondOrgId, siteId: elsewhere }]);
    const confine = (body: object) => manage("PATCH", principalPath(), body);
    const all = await moment();
    await confine({ orgAccess: "selected", orgIds: [acme.orgId] });
    expect(told(await since("devices", all)).toSorted()).toEqual(
      [
        [acme.deviceId, false],
        [other, true],
      ].toSorted(),
    );
    const first = await moment();
    expect((await walk("/devices")).rows.map(({ id }) => id)).toEqual([acme.deviceId]);
    await setDevice({ tags: ["elsewhere"] }, other);
    expect(await since("devices", first)).toEqual([]);
    await confine({ orgIds: [acme.orgId, acme.secondOrgId] });
    expect(told(await since("devices", first))).toEqual([[other, false]]);
    const both = await moment();
    await confine({ orgIds: [acme.secondOrgId] });
    expect(told(await since("devices", both))).toEqual([[acme.deviceId, true]]);
    expect(told(await since("sites", both)).toSorted()).toEqual(
      [
        [acme.siteId, true],
        [acme.secondSiteId, true],
      ].toSorted(),
    );
    const second = await moment();
    await confine({ orgAccess: "all" });
    expect(told(await since("devices", second))).toEqual([[acme.deviceId, false]]);
    const confined = await manage("POST", "/partner-service-principals", {
      name: "confined",
      orgAccess: "selected",
      orgIds: [acme.orgId],
    });
    const { key } = await manage("POST", `/partner-service-principals/${confined.id}/keys`, { name: "k" });
    await setDevice({ status: "decommissioned" }, other);
    await server.db
      .updateTable("organizations")
      .set({ status: "suspended" })
      .where("id", "=", acme.secondOrgId)
      .execute();
    for (const resource of ["organizations", "sites", "devices"])
      for (const { orgId } of await since(resource, all, key)) expect(orgId).toBe(acme.orgId);
    expect(told(await since("devices", second)).toSorted()).toEqual(
      [
        [acme.deviceId, false],
        [other, true],
      ].toSorted(),
    );
  });

  it("tell a device that moved to those who walk where it was, and as changed to the others", async () => {
    const start = await moment();
    await setDevice({ siteId: acme.secondSiteId });
    expect(told(await since("devices", start))).toEqual([[acme.deviceId, false]]);
    const ofSite = (siteId: string) => walk(`/devices?siteId=${siteId}&updatedSince=${start}`);
    expect((await ofSite(acme.siteId)).rows).toMatchObject([{ id: acme.deviceId, siteId: acme.siteId, removed: true }]);
    expect(told((await ofSite(acme.secondSiteId)).rows)).toEqual([[acme.deviceId, false]]);
    const confined = await manage("POST", "/partner-service-principals", {
      name: "confined",
      orgAccess: "selected",
      orgIds: [acme.orgId],
    });
    const { key } = await manage("POST", `/partner-service-principals/${confined.id}/keys`, { name: "k" });
    const elsewhere = await makeSite(server, acme.secondOrgId);
    const moved = await moment();
    for (const table of ["deviceHardware", "deviceCommands", "deviceGroupMembers", "deviceGroupLog"] as const)
      await server.db.deleteFrom(table).where("deviceId", "=", acme.deviceId).execute();
    await server.db
      .updateTable("elevationRequests")
      .set({ deviceId: null })
      .where("deviceId", "=", acme.deviceId)
      .execute();
    await setDevice({ orgId: acme.secondOrgId, siteId: elsewhere } as never);
    expect((await since("devices", moved)).map((row) => [row.id, row.orgId, row.removed])).toEqual([
      [acme.deviceId, acme.secondOrgId, undefined],
    ]);
    expect((await since("devices", moved, key)).map((row) => [row.id, row.orgId, row.removed])).toEqual([
      [acme.deviceId, acme.orgId, true],
    ]);
  });

  it("begin at most 30 days ago; removals are kept for these and for the walks that began then", async () => {
    const now = Date.parse(await moment());
    const ago = (days: number) => new Date(now - days * DAY).toISOString();
    const late = await get(`/sites?updatedSince=${ago(30.1)}`);
    expect([late.status, late.body.code, late.body.error]).toEqual([
      400,
      "SINCE_TOO_OLD",
      "updatedSince is older than 30 days",
    ]);
    expect(late.body).not.toHaveProperty("data");
    expect((await get(`/sites?updatedSince=${ago(29.9)}`)).status).toBe(200);
    const start = await moment();
    await setDevice({ status: "decommissioned" });
    const forget = (days: number) =>
      forgetRemovals({ ...server.services, clock: heldClock(new Date(now + days * DAY).toISOString()) });
    await forget(31);
    expect(told(await since("devices", start))).toEqual([[acme.deviceId, true]]);
    expect(await forget(33)).toBeGreaterThan(0);
    expect(await since("devices", start)).toEqual([]);
  });

  it("page through removed and changed rows alike, each once", async () => {
    const start = await moment();
    const ids = await makeDevices(
      server,
      Array.from({ length: 30 }, () => ({ orgId: acme.orgId, siteId: acme.siteId })),
    );
    for (const [at, id] of ids.entries()) {
      if (at % 2 === 0) await setDevice({ status: "decommissioned" }, id);
      else await setDevice({ displayName: "x" }, id);
    }
    const expected = ids.map((id, at) => [id, at % 2 === 0] as const);
    for (const limit of [1, 7, 500]) {
      const { rows } = await walk(`/devices?updatedSince=${start}`, { limit });
      expect(told(rows).toSorted()).toEqual(expected.toSorted());
      const times = rows.map(({ sourceUpdatedAt, id }) => sourceUpdatedAt + id);
      expect(times).toEqual(times.toSorted());
    }
  });

  it("give the edges that exist of each device", async () => {
    const [row] = (await walk("/device-relationships")).rows;
    const organization = { type: "organization", id: acme.orgId };
    const [site, device] = [
      { type: "site", id: acme.siteId },
      { type: "device", id: acme.deviceId },
    ];
    expect(row).toMatchObject({
      ...{ id: acme.deviceId, deviceId: acme.deviceId, orgId: acme.orgId, siteId: acme.siteId },
      edges: [
        {
          key: `organization_site:${acme.orgId}:${acme.siteId}`,
          type: "organization_site",
          from: organization,
          to: site,
        },
        { key: `site_device:${acme.siteId}:${acme.deviceId}`, type: "site_device", from: site, to: device },
        ...[acme.deviceGroupId, acme.dynamicGroupId].toSorted().map((id) => ({
          ...{ key: `device_group:${acme.deviceId}:${id}`, type: "device_group" },
          ...{ from: device, to: { type: "device_group", id } },
        })),
      ],
      collection: { total: 4, included: 4, complete: true },
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const start = await moment();
    await setDevice({ siteId: acme.secondSiteId });
    const [moved] = await since("device-relationships", start);
    expect(moved?.edges).toHaveLength(4);
    expect(JSON.stringify(moved?.edges)).not.toContain(acme.siteId);
  });

  it("tell a device that joined or left a group, with its groups", async () => {
    const groupIds = [acme.deviceGroupId, acme.dynamicGroupId].toSorted();
    const [row] = (await walk("/devices")).rows;
    expect(row).toMatchObject({ groupIds, groupMembership: { total: 2, included: 2, complete: true } });
    const start = await moment();
    const left = server.db.deleteFrom("deviceGroupMembers").where("groupId", "=", acme.deviceGroupId);
    await left.execute();
    expect(await since("devices", start)).toMatchObject([
      { id: acme.deviceId, groupIds: [acme.dynamicGroupId], groupMembership: { total: 1 } },
    ]);
    expect((await since("device-relationships", start))[0]?.edges).toHaveLength(3);
    const next = await moment();
    await server.db
      .insertInto("deviceGroupMembers")
      .values({
        ...{ orgId: acme.orgId, groupId: acme.deviceGroupId, deviceId: acme.deviceId, isPinned: false },
        ...{ addedAt: server.clock.now(), addedBy: "manual" },
      })
      .execute();
    expect(await since("devices", next)).toMatchObject([{ id: acme.deviceId, groupIds }]);
  });

  it("take what was there before the upgrade as it was", async () => {
    const [gone] = await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId, status: "decommissioned" }]);
    const before = (await walk("/devices")).rows;
    const tables = ["export_rows", "export_removals", "export_org_reach", "export_principal_reach"];
    const { store } = server.services;
    const backfill = migration.statements(store.dialect).filter((text) => text.startsWith("insert into export_"));
    expect(backfill).toHaveLength(6);
    await asOwner(server, [...tables.map((table) => `delete from ${table}`), ...backfill]);
    const { rows } = await walk("/devices");
    expect(rows.map(({ id, hostname }) => [id, hostname])).toEqual(before.map(({ id, hostname }) => [id, hostname]));
    const stamped = await server.db
      .selectFrom("devices")
      .select("updatedAt")
      .where("id", "=", acme.deviceId)
      .executeTakeFirst();
    expect(rows.find(({ id }) => id === acme.deviceId)?.sourceUpdatedAt).toBe(stamped?.updatedAt);
    const removal = await server.db.selectFrom("exportRemovals").selectAll().where("rowId", "=", gone!).execute();
    expect(removal).toMatchObject([{ kind: "device", orgId: acme.orgId, siteId: acme.siteId }]);
    await pause(2);
    const start = await moment();
    await setDevice({ tags: ["after"] });
    expect(told(await since("devices", start))).toEqual([[acme.deviceId, false]]);
  });

  it.runIf(database === "postgres")("cannot be forged by the server's own role, whatever its tenant", async () => {
    const { store } = server.services;
    for (const wall of [`partner:${acme.partnerId}`, "system"]) {
      const db = store.connection(wall);
      const forged = sql`update export_rows set changed_at = now() where id = ${acme.deviceId}`.execute(db);
      await expect(forged).rejects.toThrow(/permission denied/);
      const called = sql`select export_leave('device', ${acme.deviceId}::uuid, now())`.execute(db);
      await expect(called).rejects.toThrow(/permission denied/);
    }
    const stranger = await seedTenant(server.db, server.services, `stranger-${made}`);
    const { rows } = await sql`select * from export_rows`.execute(store.connection(`partner:${stranger.partnerId}`));
    expect(new Set((rows as { partnerId: string }[]).map((row) => row.partnerId))).toEqual(
      new Set([stranger.partnerId]),
    );
  });
});
