import type { Tx } from "#server/db/unit-of-work";
import type { HeldElevation } from "./columns.ts";

/** Exactly what an event tells of a request (docs/elevation-requests.md, "Events"). */
export const eventData = (row: Omit<HeldElevation, "cleanupDeviceId" | "cleanupTries">) => ({
  elevationRequestId: row.id,
  deviceId: row.deviceId,
  deviceHostname: row.deviceHostname,
  flowType: row.flowType,
  status: row.status,
  subjectUsername: row.subjectUsername,
  toolName: row.toolName,
  riskTier: row.riskTier,
  decisionSource: row.decisionSource,
  expiresAt: row.expiresAt,
});

/** Where the device stands today; null where it stands nowhere, or has left. */
export async function siteOf(tx: Tx, { deviceId, orgId }: Pick<HeldElevation, "deviceId" | "orgId">) {
  if (deviceId === null) return null;
  const device = await tx
    .selectFrom("devices")
    .select("siteId")
    .where("id", "=", deviceId)
    .where("orgId", "=", orgId)
    .executeTakeFirst();
  return device?.siteId ?? null;
}
