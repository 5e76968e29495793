import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolNames, tools } from "#contract/core/tools";
import { patchSeverities } from "#contract/resources/software/patches";
import { plainDevicePatch } from "#fixtures/nouns/software/patches";
import { toolTiers } from "#server/features/access-control/core/decision/tool-tiers";
import { identityOf, patchIdOf } from "#server/features/software/patches/identity";
import { ToolWorld } from "../../../test/access-control/tool-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases } from "../../../test/harness.ts";
import { digestOf } from "./digest.ts";
import { resultOf } from "./result.ts";
import { type ToolCall, tierOf } from "./run-tool.ts";

describe.each(databases)("tools on %s", (database) => {
  let world: ToolWorld;
  let deviceId: string;
  const call = async (name: string, input: object = {}) => (await world.model.client.call(name, input)).data;

  beforeAll(async () => {
    world = await ToolWorld.start(database);
    deviceId = world.agent.deviceId;
    const { db, services } = world.server;
    const { orgId } = world.elevations;
    const id = () => services.random.uuid();
    const program = { orgId, deviceId, installLocation: null, uninstallString: null, installDate: null, version: "1" };
    await db
      .insertInto("deviceSoftware")
      .values([
        ...Array.from({ length: 120 }, (_, at) => ({
          ...program,
          id: id(),
          name: `tool ${String(at).padStart(3, "0")}`,
          vendor: null,
        })),
        { ...program, id: id(), name: "Zeta\u202eexe", vendor: "ACME" },
      ])
      .execute();
    const sample = (minutes: number) => ({
      ...{ orgId, deviceId, ramPercent: 50, diskPercent: 10, cpuPercent: minutes, extra: {} },
      timestamp: new Date(services.clock.nowMs() - minutes * 60_000).toISOString(),
    });
    await db.insertInto("deviceMetrics").values([1, 2, 40, 59, 200].map(sample)).execute();
    const field = { orgId, fieldKey: "rack", name: "Rack", type: "text" };
    await world.elevations.request("POST", "/custom-fields", field);
  });
  afterAll(() => world?.stop());

  it("read what the endpoints of the same kind read, of the key's organization alone", async () => {
    const listed = await call("list_devices", { search: "pc-", limit: 1 });
    expect(listed).toMatchObject({ data: [{ id: deviceId }], pagination: { page: 1, limit: 1, total: 1 } });
    expect((await call("list_devices", { status: "offline" })).data).toEqual([]);
    expect(await call("get_device", { deviceId })).toMatchObject({ id: deviceId, siteName: "HQ" });
    const condition = { field: "hostname", operator: "contains", value: "pc" };
    const found = await call("find_devices", { conditions: { operator: "AND", conditions: [condition] } });
    expect(found).toMatchObject({ totalCount: 1, devices: [{ id: deviceId }] });
    expect((await call("search", { q: "PC-1" })).results).toMatchObject([{ id: deviceId, type: "devices" }]);
    expect((await call("list_sites")).data.map(({ name }: { name: string }) => name)).toEqual(["HQ", "Depot"]);
    const { body: aside } = await world.elevations.request("POST", "/filters/preview", {
      conditions: { operator: "AND", conditions: [condition] },
    });
    expect(aside.data.devices[0].id).toBe(deviceId);
  });

  it("cut lists at a hundred, and show no character that nobody sees", async () => {
    const software = await call("get_device_software", { deviceId });
    expect([software.data.length, software.total]).toEqual([100, 121]);
    const [odd] = (await call("get_device_software", { deviceId, search: "acme" })).data;
    expect(odd.name).toBe("Zeta\ufffdexe");
    for (const search of ["%", "ac_e"])
      expect(await call("get_device_software", { deviceId, search })).toMatchObject({ data: [], total: 0 });
  });

  it("tell how busy a device was, the oldest first", async () => {
    const { points, stretchSeconds } = await call("get_device_metrics", { deviceId, metric: "cpu", hours: 1 });
    expect(stretchSeconds).toBe(300);
    const times = points.map(({ timestamp }: { timestamp: string }) => timestamp);
    expect(times).toEqual(times.toSorted());
    expect(points.at(-1).percent).toBeLessThanOrEqual(2);
    expect(points.length).toBeGreaterThanOrEqual(3);
    const long = await call("get_device_metrics", { deviceId, metric: "ram", hours: 168 });
    expect(long.points.every(({ percent }: { percent: number }) => percent === 50)).toBe(true);
  });

  it("list patches that wait, the most severe first, and none that is installed or of a device that has left", async () => {
    expect(await call("list_pending_patches", { deviceId })).toEqual({ data: [], total: 0 });
    const { db, services } = world.server;
    const { orgId, siteId } = world.elevations;
    const gone = (await world.elevations.device()).deviceId;
    const now = services.clock.now();
    const add = async (title: string, given: object, on = deviceId) => {
      const source = "custom" as const;
      const identity = identityOf({ source, externalId: title, title, version: "1" });
      const patchId = patchIdOf(source, identity);
      const patch = {
        ...plainDevicePatch(now),
        orgId,
        siteId,
        deviceId: on,
        patchId,
        source,
        externalId: title,
        title,
      };
      await db.insertInto("patches").values({ id: patchId, source, identity, unusedSince: null }).execute();
      await db
        .insertInto("devicePatches")
        .values({ ...patch, titleKey: title.toLowerCase(), status: "pending", installedAt: null, ...given })
        .execute();
    };
    await add("A low one", { severityRank: 1 });
    await add("A critical one", { severityRank: patchSeverities.indexOf("critical") });
    await add("Installed", { status: "installed", installedAt: now });
    await add("Of a device that leaves", {}, gone);
    await world.elevations.request("DELETE", `/devices/${gone}`);
    const found = await call("list_pending_patches");
    expect(found).toMatchObject({
      total: 2,
      data: [{ title: "A critical one", severity: "critical" }, { title: "A low one" }],
    });
    expect(await call("list_pending_patches", { deviceId })).toEqual(found);
  });

  it("set custom values with their event and an entry that names no value", async () => {
    const set = await world.model.client.call("set_device_custom_fields", { deviceId, values: { rack: "hidden-A1" } });
    expect(set).toMatchObject({ isError: false, data: { customFields: { rack: "hidden-A1" } } });
    expect(await call("get_device_custom_fields", { deviceId })).toEqual({ customFields: { rack: "hidden-A1" } });
    expect((await eventsOf(world.server.db, deviceId)).map(({ kind }) => kind)).toContain("device.updated");
    const entries = await auditOf(world.server, ({ action }) => action === "mcp.tool.set_device_custom_fields");
    expect(entries).toMatchObject([{ result: "success", resourceId: deviceId, actorType: "api_key" }]);
    expect(JSON.stringify(entries)).not.toMatch(/hidden-A1|rack/);
    const digest = digestOf({
      ...{ tool: "set_device_custom_fields", targets: [deviceId] },
      input: { values: { rack: "hidden-A1" }, deviceId },
    });
    expect(entries[0]?.details).toMatchObject({ actionDigest: digest });
    const wrong = await world.model.client.call("set_device_custom_fields", { deviceId, values: { none: "x" } });
    expect(wrong).toMatchObject({ isError: true, data: { code: "CUSTOM_FIELD_UNKNOWN" } });
    const failed = (await auditOf(world.server, ({ action }) => action === "mcp.tool.set_device_custom_fields")).at(-1);
    expect(failed).toMatchObject({ result: "failure", details: { errorCode: "CUSTOM_FIELD_UNKNOWN" } });
  });

  it("say as data that a second inventory is on its way, and every call leaves one entry", async () => {
    const input = { deviceId, type: "refresh_inventory" };
    expect((await world.model.client.call("send_device_command", input)).isError).toBe(false);
    expect(await world.model.client.call("send_device_command", input)).toMatchObject({
      ...{ isError: true, data: { code: "ALREADY_PENDING" } },
    });
    expect(await world.commands("refresh_inventory")).toBe(1);
    const entries = await auditOf(world.server, ({ action }) => action === "mcp.tool.send_device_command");
    expect(entries.map(({ result }) => result)).toEqual(["success", "failure"]);
    expect(await auditOf(world.server, ({ action }) => action === "mcp.tool.list_sites")).toMatchObject([
      { actorType: "api_key", result: "success", details: { targets: [], siteIds: [] } },
    ]);
    expect(await auditOf(world.server, ({ action }) => action === "device.command.queue")).toEqual([]);
  });

  it("about a device that is not found are placed at no site, and not at the organization as a whole", async () => {
    const unknown = world.server.services.random.uuid();
    expect(await world.model.client.call("get_device", { deviceId: unknown })).toMatchObject({
      ...{ isError: true, data: { code: "NOT_FOUND" } },
    });
    const [entry] = await auditOf(world.server, ({ resourceId }) => resourceId === unknown);
    expect(entry).toMatchObject({ action: "mcp.tool.get_device", result: "failure" });
    expect(entry?.details).not.toHaveProperty("siteIds");
  });
});

describe("a tool", () => {
  it("has only tiers that rules know of it", () => {
    const id = "019cadc6-9a7f-72bc-baf1-57d35096e962";
    const inputs: Record<string, object[]> = {
      send_device_command: ["refresh_inventory", "collect_logs", "reboot"].map((type) => ({ deviceId: id, type })),
    };
    for (const name of toolNames) {
      const tiers = (inputs[name] ?? [{}]).map((input) => tierOf({ name, input } as ToolCall));
      expect([...new Set(tiers)].toSorted(), name).toEqual(toolTiers[name]);
      expect(tools[name].reads, name).toBe(tiers.every((tier) => tier === 0));
    }
  });

  it("answers at most 256 KB, with the largest lists cut and a word of it", () => {
    const rows = Array.from({ length: 100 }, (_, at) => ({ at, text: '"'.repeat(4_000) }));
    const cut = resultOf({ data: rows, total: 100 });
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(256 * 1024);
    expect(cut.structuredContent).toMatchObject({ truncated: true, total: 100 });
    expect((cut.structuredContent["data"] as unknown[]).length).toBeGreaterThan(0);
    const one = resultOf({ id: "a", blob: "x".repeat(400_000) });
    expect(one.structuredContent).toEqual({ id: "a", truncated: true });
    expect(resultOf({ data: [1] }).structuredContent).toEqual({ data: [1] });
  });

  it("has one digest for one action, however its input is written", () => {
    const a = digestOf({ tool: "t", input: { b: 1, a: "é" }, targets: ["y", "x"] });
    expect(a).toBe(digestOf({ tool: "t", input: { a: "é", b: 1 }, targets: ["x", "y"] }));
    for (const other of [
      { tool: "u", input: { b: 1, a: "é" }, targets: ["x", "y"] },
      { tool: "t", input: { b: 2, a: "é" }, targets: ["x", "y"] },
      { tool: "t", input: { b: 1, a: "é" }, targets: ["x"] },
    ])
      expect(digestOf(other)).not.toBe(a);
  });
});
