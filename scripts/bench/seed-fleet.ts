import type { Kysely } from "kysely";
import { plainDevice } from "#fixtures/nouns/fleet/devices";
import { plainOrganization } from "#fixtures/nouns/tenancy/organizations";
import { contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import type { Database } from "#server/db/tables";
import type { Services } from "#server/services";
import { insertRows } from "./insert-rows.ts";

export interface FleetSize {
  readonly organizations: number;
  readonly devices: number;
  readonly entries: number;
  /** Tags, custom values, software and a sample of each device. */
  readonly facts?: boolean;
  /** Devices of one organization whose agents may speak, each with so many commands that wait. */
  readonly agents?: { readonly count: number; readonly commands: number };
  /** Rules about elevations of their organization. */
  readonly rules?: number;
}

const statuses = [
  "online",
  "online",
  "online",
  "offline",
  "offline",
  "updating",
  "quarantined",
  "decommissioned",
] as const;
const systems = ["windows", "windows", "macos", "linux"] as const;
const roles = ["workstation", "workstation", "workstation", "workstation", "server", "switch"] as const;
const actions = ["organization.update", "device.update", "user.login", "enrollment_key.create", "site.update"] as const;
/** Sizes at which every list can be read and every filter leaves out rows. */
const HARDWARE_MAX = 1_000;

/** A partner with organizations of one site each, their devices and audit entries. */
export async function seedFleet(
  db: Kysely<Database>,
  { clock, random, store }: Pick<Services, "clock" | "random" | "store">,
  partnerId: string,
  size: FleetSize,
): Promise<{ orgIds: string[] }> {
  const start = Date.parse(clock.now());
  const insert = (count: number, row: (index: number) => object, table: keyof Database) =>
    insertRows(db, store.dialect, table, count, row);
  const before = (ms: number) => new Date(start - ms).toISOString();
  const stamps = (index: number) => ({ createdAt: before(1e9 - index * 1_000), updatedAt: before(index) });
  const organizations = numbers(size.organizations).map((index) => ({
    ...plainOrganization(`customer-${String(index).padStart(5, "0")}`),
    id: random.uuid(),
    partnerId,
    ...stamps(index),
  }));
  const sites = organizations.map(({ id }, index) => ({
    ...{
      id: random.uuid(),
      orgId: id,
      name: "Main office",
      timezone: "UTC",
      address: null,
      contact: null,
      settings: {},
    },
    ...stamps(index),
  }));
  const site = (index: number) => sites[index % sites.length]!;
  await insert(size.organizations, (index) => organizations[index]!, "organizations");
  await insert(size.organizations, (index) => sites[index]!, "sites");
  const deviceIds = numbers(size.devices).map(() => random.uuid());
  await insert(
    size.devices,
    (index) => ({
      ...plainDevice(before(index)),
      id: deviceIds[index]!,
      orgId: site(index).orgId,
      siteId: site(index).id,
      agentId: random.bytes(32).toString("hex"),
      hostname: `PC-${(index * 7_919) % 1_000_003}`,
      displayName: index % 10 === 0 ? `Reception ${index}` : null,
      status: statuses[index % statuses.length]!,
      osType: systems[index % systems.length]!,
      deviceRole: roles[index % roles.length]!,
      lastSeenAt: index % 50 === 0 ? null : before((index * 104_729) % 86_400_000),
      enrolledAt: index % 50 === 0 ? null : before((index * 15_485_863) % 8_640_000_000),
    }),
    "devices",
  );
  await insert(
    Math.min(size.devices, HARDWARE_MAX),
    (index) => ({
      ...{
        orgId: site(index).orgId,
        deviceId: deviceIds[index]!,
        manufacturer: "Dell",
        model: "5400",
        serialNumber: null,
      },
      ...{ cpuModel: "i7", cpuCores: 8, cpuThreads: 16, ramTotalMb: 16_384, diskTotalGb: 512, gpuModel: null },
      ...{ biosVersion: null, updatedAt: before(0) },
    }),
    "deviceHardware",
  );
  // One organization per statement, because the sealing trigger locks its chain.
  const each = Math.ceil(size.entries / size.organizations);
  for (const [at, { id: orgId }] of organizations.entries())
    await insert(each, (index) => entry(orgId, at + index * size.organizations), "auditLogs");
  return { orgIds: organizations.map(({ id }) => id) };

  function entry(orgId: string, index: number) {
    const content = auditEntry(
      {
        ...{ orgId, actorType: "user", actorId: random.uuid(), actorEmail: `tech-${index % 40}@msp.example` },
        ...{ action: actions[index % actions.length]!, resourceType: "organization", resourceId: orgId },
        ...{ resourceName: `Customer ${index % 977}`, details: { changedFields: ["name"], siteIds: [null] } },
        ...{ ipAddress: "203.0.113.7", userAgent: "Mozilla/5.0", result: "success" },
      },
      { now: new Date(start - size.entries * 1_000 + index * 1_000) },
    );
    return { ...content, checksum: contentHash(content), readerPartnerId: partnerId };
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
