import type { Insertable } from "kysely";
import type { DevicesTable } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";

/** What nobody has said of a device that has just joined. */
const neverSet = {
  displayName: null,
  deviceRoleSource: "auto",
  tags: [] as string[],
  customFields: {},
  lastUser: null,
  uptimeSeconds: null,
  isHeadless: false,
  pendingReboot: false,
  watchdogStatus: null,
  watchdogVersion: null,
  watchdogSeenAt: null,
  mainAgentSilentSince: null,
  maintenanceUntil: null,
  quarantinedAt: null,
  quarantinedReason: null,
  decommissionedAt: null,
  provisionKeyHash: null,
  provisionKeyExpiresAt: null,
  connectionId: null,
} as const;

/** What a person may have said of it beforehand. */
type Provisioned = "displayName" | "deviceRoleSource" | "tags" | "provisionKeyHash" | "provisionKeyExpiresAt";

export type NewDevice = Omit<Insertable<DevicesTable>, keyof typeof neverSet> &
  Partial<Pick<Insertable<DevicesTable>, Provisioned>>;

/** Writes a device that has just joined; whether it may is the caller's to find out (`caps.ts`). */
export async function insertDevice(tx: Tx, device: NewDevice): Promise<void> {
  await tx
    .insertInto("devices")
    .values({ ...neverSet, ...device })
    .execute();
}
