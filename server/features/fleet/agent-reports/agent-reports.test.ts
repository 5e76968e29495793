import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("reports of agents on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  });
  afterAll(() => server?.stop());

  const send = async (method: string, section: string, body: object) => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    return server.request(method, `/agents/${acme.deviceId}/${section}`, { token: acme.agentToken, body });
  };
  const detail = async () => (await server.request("GET", `/devices/${acme.deviceId}`, { token })).body;
  const ago = (seconds: number) => new Date(server.clock.nowMs() - seconds * 1_000).toISOString();
  const software = () =>
    server.db.selectFrom("deviceSoftware").selectAll().where("deviceId", "=", acme.deviceId).orderBy("name").execute();

  it("replace the sections that they have, leave the others, and drop what is malformed", async () => {
    const disk = { mountPoint: "C:", fsType: "ntfs", totalGb: 512, usedGb: 100, freeGb: 412, usedPercent: 19.5 };
    const network = [{ interfaceName: "eth0", ipAddress: "10.0.0.7", isPrimary: true }];
    const first = await send("PUT", "inventory", {
      hardware: { serialNumber: "SN-1", cpuModel: "Fast\u0000" },
      disks: [disk, { totalGb: 5 }, "nonsense", { mountPoint: "D:", totalGb: "many" }],
      network,
    });
    expect(first.body).toMatchObject({ success: true, count: 4, ignoredFields: ["disks"] });
    const shown = await detail();
    expect(shown.hardware).toMatchObject({ serialNumber: "SN-1", cpuModel: "Fast\ufffd", model: null });
    const none = { fsType: null, totalGb: null, usedGb: null, freeGb: null, usedPercent: null };
    expect(shown.disks).toEqual([disk, { mountPoint: "D:", ...none }]);
    expect(shown.lanIp).toBe("10.0.0.7");
    await send("PUT", "inventory", { disks: [{ ...disk, usedGb: 101 }], network: "broken" });
    const after = await detail();
    expect([after.disks, after.hardware, after.lanIp]).toEqual([
      [{ ...disk, usedGb: 101 }],
      shown.hardware,
      "10.0.0.7",
    ]);
  });

  it("that say the same again change nothing", async () => {
    const report = { hardware: { serialNumber: "SN-1" }, disks: [{ mountPoint: "/" }, { mountPoint: "/home" }] };
    await send("PUT", "inventory", report);
    const rows = async () => [
      await server.db.selectFrom("deviceDisks").selectAll().orderBy("id").execute(),
      await server.db.selectFrom("deviceHardware").selectAll().execute(),
    ];
    const before = await rows();
    server.clock.advance(60_000);
    await send("PUT", "inventory", { ...report, disks: report.disks.toReversed() });
    expect(await rows()).toEqual(before);
  });

  it("of another serial number are told and recorded, the first one is not", async () => {
    const before = (await eventsOf(server.db, acme.deviceId)).length;
    await send("PUT", "inventory", { hardware: { serialNumber: "SN-2" } });
    await send("PUT", "inventory", { hardware: { serialNumber: "SN-2", cpuModel: "Faster" } });
    const told = (await eventsOf(server.db, acme.deviceId)).slice(before);
    expect(told).toMatchObject([{ kind: "device.updated", data: { changedFields: ["hardware.serialNumber"] } }]);
    const entries = await auditEntries(server, "agent.heartbeat.state_change");
    expect(entries.map(({ details }) => details["serialNumber"])).toEqual([{ from: "SN-1", to: "SN-2" }]);
  });

  it("of software keep the id of what stays, whatever its case and version", async () => {
    const report = (list: unknown) => send("PUT", "software", { software: list });
    const runtime = (version: string) => ({ name: "Runtime", vendor: "Acme", version });
    await report([{ name: "Editor", version: "1" }, runtime("8"), runtime("9"), { name: "Old" }, { version: "x" }]);
    const before = await software();
    expect(before.map(({ name }) => name)).toEqual(["Editor", "Old", "Runtime", "Runtime"]);
    const answer = await report([runtime("9"), { name: "EDITOR", version: "2" }, runtime("10"), { name: "New" }]);
    expect(answer.body).toMatchObject({ success: true, count: 4 });
    const after = await software();
    const idOf = (rows: typeof after, name: string, version: string | null) =>
      rows.find((row) => row.name === name && row.version === version)?.id;
    expect(idOf(after, "EDITOR", "2")).toBe(idOf(before, "Editor", "1"));
    expect(idOf(after, "Runtime", "9")).toBe(idOf(before, "Runtime", "9"));
    expect(idOf(after, "Runtime", "10")).toBe(idOf(before, "Runtime", "8"));
    expect(after.map(({ name }) => name)).not.toContain("Old");
    expect((await report({ not: "a list" })).body).toMatchObject({ success: true, count: 0 });
    expect(await software()).toEqual(after);
    await report([]);
    expect(await software()).toEqual([]);
    expect(await server.db.selectFrom("deviceSoftwareReports").select("deviceId").execute()).toHaveLength(1);
  });

  it("of software that come at once leave one of them, whole", async () => {
    const lists = ["a", "b", "c"].map((name) => Array.from({ length: 20 }, (_, at) => ({ name: `${name} ${at}` })));
    await Promise.all(lists.map((list) => send("PUT", "software", { software: list })));
    const left = new Set((await software()).map(({ name }) => name[0]));
    expect([left.size, (await software()).length]).toEqual([1, 20]);
  });

  it("of metrics keep one sample each 15 seconds of the past day, and count the others", async () => {
    const sample = (seconds: number, more: object = {}) => ({
      ...{ timestamp: ago(seconds), cpuPercent: 5, ramPercent: 6, diskPercent: 7 },
      ...more,
    });
    const base = Math.floor(server.clock.nowMs() / 15_000) * 15_000;
    const offset = (server.clock.nowMs() - base) / 1_000;
    const samples = [
      sample(offset + 100 * 15),
      sample(offset + 100 * 15 - 5),
      sample(offset + 200 * 15, { processCount: "many" }),
      sample(25 * 3_600),
      sample(-600),
      sample(offset + 300 * 15, { cpuPercent: 101 }),
      { cpuPercent: 1, ramPercent: 1, diskPercent: 1 },
    ];
    const answer = await send("POST", "metrics", { samples });
    expect([answer.status, answer.body]).toMatchObject([201, { received: 2, dropped: 5 }]);
    const again = await send("POST", "metrics", { samples: samples.slice(0, 3) });
    expect(again.body).toMatchObject({ received: 0, dropped: 3 });
    expect((await detail()).recentMetrics).toHaveLength(2);
    expect((await send("POST", "metrics", {})).body).toMatchObject({ received: 0, dropped: 0 });
  });

  it("are refused while the organization is offboarding", async () => {
    const tenant = await seedTenant(server.db, server.services, "leaving");
    await server.db
      .updateTable("organizations")
      .set({ status: "offboarding" })
      .where("id", "=", tenant.orgId)
      .execute();
    const asked = (method: string, section: string) =>
      server.request(method, `/agents/${tenant.deviceId}/${section}`, {
        token: tenant.agentToken,
        body: { disks: [], software: [], samples: [] },
      });
    for (const [method, section] of [
      ["PUT", "inventory"],
      ["PUT", "software"],
      ["POST", "metrics"],
    ] as const)
      expect((await asked(method, section)).body.code).toBe("TENANT_OFFBOARDING");
  });
});
