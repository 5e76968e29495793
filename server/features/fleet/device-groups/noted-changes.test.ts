import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FilterFieldName } from "#contract/core/filters/fields";
import { filterFields } from "#contract/core/filters/fields";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { evaluateDue } from "./due.ts";

/** Fields that time or a plain heartbeat changes are left to the sweep; `*` is a device that may match anything else now. */
type Clocked =
  | "lastSeenAt"
  | "uptimeSeconds"
  | "daysSinceLastSeen"
  | "daysSinceEnrolled"
  | `metrics.${string}`
  // There are no alerts yet.
  | "alerts.critical";
type Noted = Exclude<FilterFieldName, Clocked>;
type Change = (server: TestServer, device: { orgId: string; deviceId: string }) => Promise<unknown>;

const device =
  (change: object): Change =>
  ({ db }, { deviceId }) =>
    db.updateTable("devices").set(change).where("id", "=", deviceId).execute();
const hardware =
  (change: object): Change =>
  ({ db }, { deviceId }) =>
    db.updateTable("deviceHardware").set(change).where("deviceId", "=", deviceId).execute();
const network =
  (change: object): Change =>
  ({ db }, { deviceId }) =>
    db.updateTable("deviceInterfaces").set(change).where("deviceId", "=", deviceId).execute();

const TIME = "2026-01-01T00:00:00.000Z";

const reported: Change = ({ db }, at) =>
  db
    .insertInto("deviceSoftwareReports")
    .values({ ...at, firstReportedAt: TIME })
    .execute();

/** What makes a condition on the field another one for a device, and what is noted of it. */
const changes: Record<Exclude<Noted, "siteId" | "orgId" | "groupId">, Change> = {
  hostname: device({ hostname: "renamed" }),
  displayName: device({ displayName: "Shown" }),
  agentVersion: device({ agentVersion: "9.9.9" }),
  lastUser: device({ lastUser: "ada" }),
  status: device({ status: "updating" }),
  enrolledAt: device({ enrolledAt: TIME }),
  quarantinedAt: device({ quarantinedAt: TIME }),
  tags: device({ tags: ["new"] }),
  deviceRole: device({ deviceRole: "printer" }),
  isHeadless: device({ isHeadless: true }),
  watchdogStatus: device({ watchdogStatus: "failover" }),
  "system.rebootRequired": device({ pendingReboot: true }),
  osType: device({ osType: "macos" }),
  osVersion: device({ osVersion: "99" }),
  osBuild: device({ osBuild: "99a" }),
  architecture: device({ architecture: "arm64" }),
  lastSeenIp: device({ lastSeenIp: "192.0.2.9" }),
  "hardware.manufacturer": hardware({ manufacturer: "x" }),
  "hardware.model": hardware({ model: "x" }),
  "hardware.serialNumber": hardware({ serialNumber: "x" }),
  "hardware.cpuModel": hardware({ cpuModel: "x" }),
  "hardware.gpuModel": hardware({ gpuModel: "x" }),
  "hardware.cpuCores": hardware({ cpuCores: 3 }),
  "hardware.ramTotalMb": hardware({ ramTotalMb: 3 }),
  "hardware.diskTotalGb": hardware({ diskTotalGb: 3 }),
  "network.ipAddress": network({ ipAddress: "10.9.9.9" }),
  "network.publicIp": network({ publicIp: "192.0.2.9" }),
  "network.macAddress": network({ macAddress: "02:00:00:00:00:09" }),
  "software.installed": ({ db, services }, at) =>
    db
      .insertInto("deviceSoftware")
      .values({
        ...{ id: services.random.uuid(), ...at, name: "Chrome", version: null, vendor: null },
        ...{ installDate: null, installLocation: null, uninstallString: null },
      })
      .execute(),
  "software.notInstalled": reported,
  "patches.pending": ({ db }, at) =>
    db
      .insertInto("devicePatchReports")
      .values({ ...at, firstReportedAt: TIME })
      .execute(),
};

describe.each(databases)("what conditions of groups speak of, on %s,", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let deviceId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    const { orgId, siteId, partnerId } = acme;
    [deviceId] = (await makeDevices(server, [{ orgId, siteId, osType: "linux", hostname: "noted" }])) as [string];
    const at = { orgId, deviceId };
    await server.db
      .insertInto("deviceHardware")
      .values({ ...at, ...noHardware, updatedAt: TIME })
      .execute();
    await server.db
      .insertInto("deviceInterfaces")
      .values({
        ...{ id: server.services.random.uuid(), ...at, interfaceName: "eth0", macAddress: null, ipAddress: null },
        ...{ subnetMask: null, publicIp: null, isPrimaryInterface: true },
      })
      .execute();
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    // One group asks for all of them.
    const conditions = Object.keys(filterFields).map((field) => ({ field, ...asked(field as FilterFieldName) }));
    const body = { orgId, name: "All", type: "dynamic", filterConditions: { operator: "OR", conditions } };
    const made = await server.request("POST", "/groups", { token, body });
    expect([made.status, made.body.code]).toEqual([201, undefined]);
  });
  afterAll(() => server?.stop());

  it.each(Object.entries(changes))("is noted when it changes: %s", async (field, change) => {
    await evaluateDue(server.services);
    await change(server, { orgId: acme.orgId, deviceId });
    const notes = server.db.selectFrom("deviceGroupDue").select("field").where("deviceId", "=", deviceId);
    expect((await notes.execute()).map((note) => note.field)).toContain(field);
  });
});

const noHardware = {
  ...{ manufacturer: null, model: null, serialNumber: null, cpuModel: null, cpuCores: null, cpuThreads: null },
  ...{ ramTotalMb: null, diskTotalGb: null, gpuModel: null, biosVersion: null },
};

/** A condition that the field takes, and that no device satisfies. */
function asked(field: FilterFieldName): { operator: string; value?: unknown } {
  const { type } = filterFields[field];
  if (type === "id" || type === "enum") return { operator: "in", value: [] };
  if (type === "array") return { operator: "hasAny", value: [] };
  if (type === "installed" || type === "notInstalled") return { operator: "contains", value: "no such title" };
  if (type === "capability") return { operator: "equals", value: true };
  return { operator: "isNull" };
}
