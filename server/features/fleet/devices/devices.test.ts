import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

const MINUTE = 60_000;

describe.each(databases)("devices on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let otherOrgId: string;
  let siteId: string;
  let branchId: string;
  let foreign: { orgId: string; siteId: string; deviceId: string };
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    const made = await seedPartner(server, "acme", ["acme", "acme-two"]);
    partnerId = made.partnerId;
    [orgId, otherOrgId] = made.orgIds as [string, string];
    siteId = await makeSite(server, orgId, "HQ");
    branchId = await makeSite(server, orgId, "Branch");
    const other = await seedPartner(server, "other", ["other"]);
    const otherOrg = other.orgIds[0] as string;
    const otherSite = await makeSite(server, otherOrg);
    const [deviceId] = await makeDevices(server, [{ orgId: otherOrg, siteId: otherSite, hostname: "foreign" }]);
    foreign = { orgId: otherOrg, siteId: otherSite, deviceId: deviceId as string };
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  const list = (query: string, token = admin.token) => server.request("GET", `/devices?${query}`, { token });
  const names = (answer: { body: { data?: { hostname: string }[]; devices?: { hostname: string }[] } }) =>
    (answer.body.data ?? answer.body.devices ?? []).map((device) => device.hostname);

  describe("filters", () => {
    beforeAll(async () => {
      const secondSite = await makeSite(server, otherOrgId);
      await makeDevices(server, [
        { orgId, siteId, hostname: "PC_01", osType: "windows", deviceRole: "server" },
        { orgId, siteId, hostname: "PCX01", osType: "linux", status: "offline" },
        { orgId, siteId: branchId, hostname: "50%OFF", displayName: "Straße Kasse" },
        { orgId, siteId: branchId, hostname: "back\\slash", status: "decommissioned" },
        { orgId: otherOrgId, siteId: secondSite, hostname: "elsewhere" },
      ]);
    });

    it("leaves decommissioned devices out unless they are asked for", async () => {
      expect(names(await list(`orgId=${orgId}`)).sort()).toEqual(["50%OFF", "PCX01", "PC_01"]);
      expect(names(await list(`orgId=${orgId}&includeDecommissioned=true`))).toHaveLength(4);
      expect(names(await list("status=decommissioned"))).toEqual(["back\\slash"]);
    });

    it("narrows by site, state, system and role, in both modes alike", async () => {
      for (const mode of ["", "&cursor="]) {
        expect(names(await list(`siteId=${branchId}${mode}`))).toEqual(["50%OFF"]);
        expect(names(await list(`siteIds=${siteId},${branchId}${mode}`))).toHaveLength(3);
        expect(names(await list(`siteId=${siteId}&siteIds=${branchId}${mode}`))).toEqual([]);
        expect(names(await list(`orgIds=${orgId},${otherOrgId}${mode}`))).toHaveLength(4);
        expect(names(await list(`status=offline${mode}`))).toEqual(["PCX01"]);
        expect(names(await list(`osType=linux${mode}`))).toEqual(["PCX01"]);
        expect(names(await list(`role=server${mode}`))).toEqual(["PC_01"]);
        expect(names(await list(`orgIds=&siteIds=${mode}`))).toHaveLength(4);
        expect(names(await list(`groupIds=${siteId}${mode}`))).toEqual([]);
      }
    });

    it("searches hostname and display name literally, without case, in every script (C13)", async () => {
      const found = async (text: string) => names(await list(`search=${encodeURIComponent(text)}`)).sort();
      expect(await found("pc_01")).toEqual(["PC_01"]);
      expect(await found("%")).toEqual(["50%OFF"]);
      expect(await found("_")).toEqual(["PC_01"]);
      expect(await found("straße k")).toEqual(["50%OFF"]);
      expect(await found("\\")).toEqual([]);
      expect(names(await list(`search=${encodeURIComponent("\\")}&includeDecommissioned=true`))).toEqual([
        "back\\slash",
      ]);
    });

    it("refuses a named organization or site out of reach, whether it exists or not", async () => {
      const nowhere = server.services.random.uuid();
      for (const [name, theirs, code] of [
        ["orgId", foreign.orgId, "ORG_ACCESS_DENIED"],
        ["orgIds", foreign.orgId, "ORG_ACCESS_DENIED"],
        ["siteId", foreign.siteId, "SITE_ACCESS_DENIED"],
        ["siteIds", foreign.siteId, "SITE_ACCESS_DENIED"],
      ]) {
        const [known, unknown] = [await list(`${name}=${theirs}`), await list(`${name}=${nowhere}&cursor=`)];
        expect(known).toMatchObject({ status: 403, body: { code } });
        expect({ status: unknown.status, body: unknown.body }).toEqual({ status: known.status, body: known.body });
      }
    });

    it("clamps paging and refuses malformed ids", async () => {
      expect((await list("page=abc&limit=1e2")).body.pagination).toMatchObject({ page: 1, limit: 50 });
      expect((await list("page=0&limit=100000")).body.pagination).toMatchObject({ page: 1, limit: 100 });
      expect((await list("page=99999999999999999999")).status).toBe(200);
      expect((await list("cursor=&limit=100000")).body.limit).toBe(1_000);
      expect((await list("cursor=&limit=-1")).body.limit).toBe(1);
      expect((await list("siteIds=nope")).status).toBe(400);
      expect((await list("status=asleep")).status).toBe(400);
      expect((await list(`siteIds=${Array.from({ length: 30 }, () => siteId).join(",")}`)).status).toBe(200);
    });

    it("hides an archived organization's devices until it is named", async () => {
      await server.db.updateTable("organizations").set({ status: "archived" }).where("id", "=", otherOrgId).execute();
      expect(names(await list(""))).not.toContain("elsewhere");
      expect(names(await list(`orgId=${otherOrgId}`))).toEqual(["elsewhere"]);
      await server.db.updateTable("organizations").set({ status: "active" }).where("id", "=", otherOrgId).execute();
    });

    it("orders pages by the last sign of life, newest first and never seen last", async () => {
      const { orgIds } = await seedPartner(server, "ordered", ["ordered"]);
      const org = orgIds[0] as string;
      const site = await makeSite(server, org);
      const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`;
      await makeDevices(server, [
        { orgId: org, siteId: site, hostname: "never", lastSeenAt: null, status: "pending" },
        { orgId: org, siteId: site, hostname: "old", lastSeenAt: at(1) },
        { orgId: org, siteId: site, hostname: "new", lastSeenAt: at(2) },
      ]);
      const system = await server.signIn({ role: "System Admin" });
      expect(names(await list(`orgId=${org}`, system.token))).toEqual(["new", "old", "never"]);
    });
  });

  describe("a walk by cursor", () => {
    let walked: string;
    let token: string;
    const total = 250;

    beforeAll(async () => {
      const made = await seedPartner(server, "walk", ["walk"]);
      walked = made.orgIds[0] as string;
      const site = await makeSite(server, walked);
      token = (await server.signIn({ role: "Partner Admin", partnerId: made.partnerId })).token;
      const seen = (n: number) => (n % 10 === 0 ? null : new Date(Date.UTC(2026, 0, 1, 0, n % 40)).toISOString());
      await makeDevices(
        server,
        Array.from({ length: total }, (_, n) => ({
          orgId: walked,
          siteId: site,
          // Twins, both cases, accents and punctuation: where collations disagree.
          hostname: ["Ärger", "zebra", "ALPHA-1", "alpha_1", "beta"][n % 5] + (n % 3 === 0 ? "" : `-${n}`),
          lastSeenAt: seen(n),
          enrolledAt: seen(n + 3),
        })),
      );
    });

    const walk = async (query: string, between: (step: number) => Promise<unknown> = async () => undefined) => {
      const ids: string[] = [];
      const keys: unknown[] = [];
      let cursor: string | null = "";
      for (let step = 0; cursor !== null; step += 1) {
        const answer = await server.request("GET", `/devices?${query}&cursor=${cursor}`, { token });
        expect(answer.status).toBe(200);
        ids.push(...answer.body.devices.map((device: { id: string }) => device.id));
        keys.push(...answer.body.devices);
        cursor = answer.body.nextCursor;
        await between(step);
      }
      return { ids, devices: keys as { hostname: string; lastSeenAt: string | null }[] };
    };

    it.each(["hostname", "lastSeen", "enrolled"])(
      "by %s meets every device exactly once, in both directions",
      async (sort) => {
        for (const sortDir of ["asc", "desc"]) {
          const { ids } = await walk(`sort=${sort}&sortDir=${sortDir}&limit=37`);
          expect(ids).toHaveLength(total);
          expect(new Set(ids).size).toBe(total);
        }
      },
    );

    it("puts devices never seen last in both directions, and hostnames in order without case", async () => {
      for (const sortDir of ["asc", "desc"]) {
        const { devices } = await walk(`sort=lastSeen&sortDir=${sortDir}&limit=60`);
        expect(devices.slice(-25).every((device) => device.lastSeenAt === null)).toBe(true);
        const times = devices.slice(0, -25).map((device) => device.lastSeenAt as string);
        expect(times).toEqual(sortDir === "asc" ? times.toSorted() : times.toSorted().reverse());
      }
      const hostnames = (await walk("sort=hostname&limit=100")).devices.map((device) => device.hostname.toLowerCase());
      expect(hostnames).toEqual(hostnames.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    });

    it("by hostname meets each device exactly once while devices report, come and go", async () => {
      const all = await server.db.selectFrom("devices").select(["id", "siteId"]).where("orgId", "=", walked).execute();
      const site = all[0]?.siteId as string;
      const added: string[] = [];
      const { ids } = await walk("sort=hostname&limit=20", async (step) => {
        server.clock.advance(MINUTE);
        await server.db
          .updateTable("devices")
          .set({ lastSeenAt: server.clock.now(), status: step % 2 ? "online" : "offline" })
          .where("orgId", "=", walked)
          .execute();
        added.push(
          ...(await makeDevices(server, [{ orgId: walked, siteId: site, hostname: step % 2 ? "aaa-new" : "zzz-new" }])),
        );
      });
      expect(new Set(ids).size).toBe(ids.length);
      expect(all.filter((device) => !ids.includes(device.id))).toEqual([]);
      await server.db.deleteFrom("devices").where("id", "in", added).execute();
    });

    it("tells the total only when asked, and pages of one mode never look like the other", async () => {
      const asked = await server.request("GET", "/devices?includeTotal=true&limit=1", { token });
      expect(asked.body).toMatchObject({ limit: 1, total });
      expect(asked.body).not.toHaveProperty("pagination");
      const plain = await server.request("GET", "/devices?sort=lastSeen&limit=1", { token });
      expect(plain.body).not.toHaveProperty("total");
      const paged = await server.request("GET", "/devices?page=1&cursor=&sort=lastSeen", { token });
      expect(paged.body).toMatchObject({ pagination: { page: 1, total } });
    });

    it("goes on from a cursor alone and refuses one that is broken or of another order", async () => {
      const first = await server.request("GET", "/devices?sort=lastSeen&limit=5", { token });
      const { nextCursor } = first.body;
      const next = await server.request("GET", `/devices?cursor=${nextCursor}&limit=5`, { token });
      const both = await server.request("GET", "/devices?sort=lastSeen&limit=10", { token });
      expect([...first.body.devices, ...next.body.devices]).toEqual(both.body.devices);
      const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const good = { v: 1, sort: "hostname", sortDir: "asc", key: "a", id: foreign.deviceId };
      for (const query of [
        `cursor=${nextCursor}&sort=hostname`,
        `cursor=${nextCursor}&sortDir=asc`,
        `cursor=${nextCursor}x`,
        "cursor=%20",
        "cursor=bm9wZQ",
        `cursor=${forged(null)}`,
        `cursor=${forged({ ...good, v: 2 })}`,
        `cursor=${forged({ ...good, id: "1 or 1=1" })}`,
        `cursor=${forged({ ...good, key: null })}`,
        `cursor=${forged({ ...good, key: "a\u0000" })}`,
        `cursor=${forged({ ...good, sort: "enrolled", key: "yesterday" })}`,
        `cursor=${forged({ ...good, sort: "enrolled", key: "2026-99-99T99:99:99.999Z" })}`,
      ]) {
        const answer = await server.request("GET", `/devices?${query}`, { token });
        expect([query, answer.status, answer.body.code]).toEqual([query, 400, "INVALID_CURSOR"]);
      }
      expect((await server.request("GET", `/devices?cursor=${forged(good)}`, { token })).status).toBe(200);
    });
  });

  describe("one device", () => {
    let id: string;

    beforeAll(async () => {
      [id] = (await makeDevices(server, [
        { orgId, siteId, hostname: "detailed", lastSeenIp: "203.0.113.9", agentTokenHash: "f".repeat(64) },
      ])) as [string];
      const common = { orgId, deviceId: id, macAddress: null, subnetMask: null, publicIp: null };
      const { random, clock } = server.services;
      await server.db
        .insertInto("deviceInterfaces")
        .values([
          { ...common, id: random.uuid(), interfaceName: "lo", ipAddress: "127.0.0.1", isPrimaryInterface: false },
          { ...common, id: random.uuid(), interfaceName: "wlan0", ipAddress: "10.0.0.8", isPrimaryInterface: false },
          { ...common, id: random.uuid(), interfaceName: "eth0", ipAddress: "169.254.1.1", isPrimaryInterface: true },
        ])
        .execute();
      await server.db
        .insertInto("deviceHardware")
        .values({
          orgId,
          deviceId: id,
          manufacturer: null,
          model: "T14",
          serialNumber: null,
          cpuModel: "i5",
          cpuCores: 4,
          cpuThreads: 8,
          ramTotalMb: 16_000,
          diskTotalGb: 512,
          gpuModel: null,
          biosVersion: null,
          updatedAt: clock.now(),
        })
        .execute();
      const minutes = Array.from({ length: 30 * 60 }, (_, n) => n);
      for (let from = 0; from < minutes.length; from += 600) {
        await server.db
          .insertInto("deviceMetrics")
          .values(
            minutes.slice(from, from + 600).map((n) => ({
              orgId,
              deviceId: id,
              timestamp: new Date(clock.nowMs() - n * MINUTE).toISOString(),
              cpuPercent: n === 0 ? 99 : 10,
              ramPercent: 20,
              diskPercent: 30,
              extra: {},
            })),
          )
          .execute();
      }
    });

    it("comes with hardware, network, place and a day of metrics, and no token hash", async () => {
      const { status, body } = await server.request("GET", `/devices/${id}`, { token: admin.token });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id,
        orgName: "acme",
        siteName: "HQ",
        siteTimezone: "Europe/Berlin",
        wanIp: "203.0.113.9",
        lanIp: "10.0.0.8",
        hardware: { model: "T14", cpuCores: 4, gpuModel: null },
        metrics: { cpuPercent: 99, timestamp: server.clock.now() },
      });
      expect(body.networkInterfaces.map((item: { interfaceName: string }) => item.interfaceName)).toEqual([
        "eth0",
        "lo",
        "wlan0",
      ]);
      expect(body.recentMetrics).toHaveLength(288);
      const times: string[] = body.recentMetrics.map((sample: { timestamp: string }) => sample.timestamp);
      expect(times).toEqual(times.toSorted());
      expect(times.at(-1)).toBe(server.clock.now());
      expect(Date.parse(times[0] as string)).toBeGreaterThan(server.clock.nowMs() - 24 * 60 * MINUTE);
      expect(JSON.stringify(body)).not.toContain("f".repeat(64));
    });

    it("shows the same addresses, hardware and newest metrics in a list", async () => {
      const { body } = await list("search=detailed");
      expect(body.data).toMatchObject([
        {
          id,
          orgName: "acme",
          siteName: "HQ",
          wanIp: "203.0.113.9",
          lanIp: "10.0.0.8",
          hardware: { cpuModel: "i5", cpuCores: 4, ramTotalMb: 16_000, diskTotalGb: 512 },
          metrics: { cpuPercent: 99 },
        },
      ]);
    });

    it("of another tenant is answered like one that does not exist", async () => {
      const theirs = await server.request("GET", `/devices/${foreign.deviceId}`, { token: admin.token });
      const none = await server.request("GET", `/devices/${server.services.random.uuid()}`, { token: admin.token });
      expect(theirs.status).toBe(404);
      expect(theirs.body).toEqual(none.body);
    });

    it("of another site is refused to callers confined to sites, and never listed or found", async () => {
      const [elsewhere] = await makeDevices(server, [{ orgId, siteId: branchId, hostname: "branch-pc" }]);
      const { token } = await server.signIn({ role: "Org Technician", orgId, siteIds: [siteId] });
      const get = (device: string) => server.request("GET", `/devices/${device}`, { token });
      expect((await get(id)).status).toBe(200);
      expect(await get(elsewhere as string)).toMatchObject({ status: 403, body: { code: "SITE_ACCESS_DENIED" } });
      expect((await get(foreign.deviceId)).status).toBe(404);
      for (const query of ["limit=100", "cursor=&limit=100", "search=branch"])
        expect(names(await list(query, token))).not.toContain("branch-pc");
      expect(await list(`siteId=${branchId}`, token)).toMatchObject({
        status: 403,
        body: { code: "SITE_ACCESS_DENIED" },
      });
      expect((await list(`orgId=${orgId}`, token)).status).toBe(200);
      for (const query of [`orgId=${otherOrgId}`, `orgIds=${otherOrgId}`])
        expect((await list(query, token)).body.code).toBe("ORG_ACCESS_DENIED");
    });

    it("needs devices:read", async () => {
      const { token } = await server.signIn({ role: "Partner Billing Viewer", partnerId });
      expect((await list("", token)).body.code).toBe("PERMISSION_DENIED");
      expect((await server.request("GET", `/devices/${id}`, { token })).body.code).toBe("PERMISSION_DENIED");
    });
  });
});
