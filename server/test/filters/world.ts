import fc from "fast-check";
import { plainGroup } from "#fixtures/nouns/fleet/device-groups";
import { plainDevice } from "#fixtures/nouns/fleet/devices";
import { seedPartner, type TestServer } from "../harness.ts";
import { type Described, devices, keys, NOW } from "./arbitraries.ts";
import type { PlainDefinition, PlainDevice } from "./plain-device.ts";

export interface World {
  devices: PlainDevice[];
  definitions: PlainDefinition[];
  partners: { partnerId: string; orgIds: string[] }[];
  siteIds: string[];
  groupIds: string[];
}

/** Devices of two partners whose definitions of custom fields differ, all of them in the database. */
export async function makeWorld(server: TestServer, count: number, seed: number): Promise<World> {
  const partners = [
    await seedPartner(server, "acme", ["acme-west", "acme-east", "acme-lab"]),
    await seedPartner(server, "globex", ["globex-hq", "globex-lab"]),
  ];
  const places = partners.flatMap(({ partnerId, orgIds }) => orgIds.map((orgId) => ({ partnerId, orgId })));
  const sites = places.flatMap(({ orgId }) => [0, 1].map((index) => site(server, orgId, index)));
  await server.db.insertInto("sites").values(sites).execute();
  const definitions = await define(server, partners);
  const described = fc.sample(devices, { numRuns: count, seed });
  const made = described.map((one, index): PlainDevice => {
    const { id: siteId, orgId } = sites[index % sites.length] as (typeof sites)[number];
    const { partnerId } = places.find((place) => place.orgId === orgId) as (typeof places)[number];
    // SQL has no text that contains U+0000, and JSON no key twice: all else may stand there.
    return { ...one, id: server.services.random.uuid(), orgId, partnerId, siteId, groupIds: [] };
  });
  for (const device of made) await store(server, device);
  await leaveSamples(server, made, places);
  const groupIds = await group(server, places, made);
  return { groupIds, devices: made, definitions, partners, siteIds: sites.map(({ id }) => id) };
}

/** As devices that have moved left them behind in another organization. */
async function leaveSamples({ db }: TestServer, made: readonly PlainDevice[], places: readonly { orgId: string }[]) {
  const left = made.flatMap((device, index) => {
    const orgId = places.find((place) => place.orgId !== device.orgId)?.orgId as string;
    const sample = { timestamp: "2026-04-02T00:00:00.000Z", cpuPercent: 100, ramPercent: 8, diskPercent: 0, extra: {} };
    return index % 3 === 0 ? [{ orgId, deviceId: device.id, ...sample }] : [];
  });
  await db.insertInto("deviceMetrics").values(left).execute();
}

/** Two groups in each organization, with some of its devices. */
async function group(server: TestServer, places: readonly { orgId: string }[], made: readonly PlainDevice[]) {
  const groupIds: string[] = [];
  for (const [index, { orgId }] of [...places, ...places].entries()) {
    const id = server.services.random.uuid();
    groupIds.push(id);
    const name = `Group ${index}`;
    await server.db
      .insertInto("deviceGroups")
      .values({ ...plainGroup(NOW), id, orgId, name, nameKey: name.toLowerCase() })
      .execute();
    for (const device of made.filter((one, at) => one.orgId === orgId && at % 3 === index % 3)) {
      device.groupIds.push(id);
      const member = { orgId, groupId: id, deviceId: device.id, isPinned: false, addedAt: NOW };
      await server.db
        .insertInto("deviceGroupMembers")
        .values({ ...member, addedBy: "manual" })
        .execute();
    }
  }
  return groupIds;
}

const site = (server: TestServer, orgId: string, index: number) => ({
  ...{ id: server.services.random.uuid(), orgId, name: `Site ${index}`, timezone: "UTC", address: null, contact: null },
  ...{ settings: {}, createdAt: NOW, updatedAt: NOW },
});

async function define(server: TestServer, [acme, globex]: World["partners"]): Promise<PlainDefinition[]> {
  const [west, east] = (acme?.orgIds ?? []) as [string, string];
  const whole = (partnerId: string | undefined) => ({ orgId: null, partnerId: partnerId as string });
  const only = (orgId: string) => ({ orgId, partnerId: null });
  const of = (
    owner: { orgId: string | null; partnerId: string | null },
    fieldKey: string,
    type: PlainDefinition["type"],
    defaultValue: unknown = null,
    deviceTypes: string[] | null = null,
  ): PlainDefinition => ({ ...owner, fieldKey, type, defaultValue, deviceTypes });
  const definitions = [
    of(whole(acme?.partnerId), "asset", "text", "PC_01"),
    of(only(west), "asset", "number", 12),
    of(whole(acme?.partnerId), "cost", "number"),
    of(whole(globex?.partnerId), "cost", "text", "12", ["windows"]),
    of(whole(acme?.partnerId), "leased", "boolean", true, ["windows", "linux"]),
    of(only(east), "bought", "date", "2026-03-29"),
    of(whole(globex?.partnerId), "bought", "date", "2026-03-31T10:00:00.000Z", ["macos"]),
    of(whole(globex?.partnerId), "leased", "boolean"),
    of(whole(acme?.partnerId), "shelf", "dropdown", "a"),
    of(only(west), "shelf", "date"),
  ];
  if (definitions.some(({ fieldKey }) => !keys.includes(fieldKey))) throw new Error("nothing asks for a field");
  await server.db
    .insertInto("customFields")
    .values(
      definitions.map(({ defaultValue, deviceTypes, ...definition }) => ({
        ...definition,
        ...{ id: server.services.random.uuid(), name: definition.fieldKey, options: null, required: false },
        defaultJson: defaultValue === null ? null : JSON.stringify(defaultValue),
        deviceTypes: deviceTypes as "windows"[] | null,
        ...{ createdAt: NOW, updatedAt: NOW },
      })),
    )
    .execute();
  return definitions;
}

async function store(server: TestServer, device: PlainDevice): Promise<void> {
  const { db, services } = server;
  const { hardware, metrics, interfaces, software, patches, partnerId: _, groupIds: __, siteId, ...row } = device;
  const mine = { orgId: device.orgId, deviceId: device.id };
  const id = () => services.random.uuid();
  await db
    .insertInto("devices")
    .values({
      ...plainDevice(NOW),
      ...(row as unknown as Omit<Described, "hardware">),
      ...{ siteId, agentId: services.random.bytes(32).toString("hex"), customFields: row.customFields as never },
    } as never)
    .execute();
  if (hardware)
    await db
      .insertInto("deviceHardware")
      .values({ ...mine, ...hardware, updatedAt: NOW } as never)
      .execute();
  for (const sample of metrics)
    await db
      .insertInto("deviceMetrics")
      .values({ ...mine, ...sample, extra: {} })
      .execute();
  for (const one of interfaces)
    await db
      .insertInto("deviceInterfaces")
      .values({
        ...{ id: id(), ...mine, ...one, interfaceName: "eth0", subnetMask: null, isPrimaryInterface: false },
      })
      .execute();
  if (software)
    await db
      .insertInto("deviceSoftwareReports")
      .values({ ...mine, firstReportedAt: NOW })
      .execute();
  for (const name of software ?? [])
    await db
      .insertInto("deviceSoftware")
      .values({
        ...{ id: id(), ...mine, name, version: null, vendor: null, installDate: null },
        ...{ installLocation: null, uninstallString: null },
      })
      .execute();
  if (patches)
    await db
      .insertInto("devicePatchReports")
      .values({ ...mine, firstReportedAt: NOW })
      .execute();
  for (const status of patches ?? []) await storePatch(server, device, status);
}

async function storePatch({ db, services }: TestServer, device: PlainDevice, status: string): Promise<void> {
  const patchId = services.random.uuid();
  await db
    .insertInto("patches")
    .values({ id: patchId, source: "linux", identity: patchId, unusedSince: null } as never)
    .execute();
  await db
    .insertInto("devicePatches")
    .values({
      ...{ orgId: device.orgId, siteId: device.siteId, deviceId: device.id, patchId, status, source: "linux" },
      ...{ osType: device.osType, title: "x", titleKey: "x", severityRank: 0, cveIds: [], requiresRestart: false },
      ...{ firstSeenAt: NOW, statusChangedAt: NOW },
    } as never)
    .execute();
}
