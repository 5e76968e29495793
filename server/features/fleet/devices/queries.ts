import { unseen } from "#server/access/site-access";
import { prepared } from "#server/db/prepared";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** Every column that the API shows; token hashes are not among them. */
export const deviceColumns = [
  "devices.id",
  "devices.orgId",
  "devices.siteId",
  "devices.agentId",
  "devices.hostname",
  "devices.displayName",
  "devices.osType",
  "devices.osVersion",
  "devices.osBuild",
  "devices.architecture",
  "devices.agentVersion",
  "devices.deviceRole",
  "devices.deviceRoleSource",
  "devices.isVirtual",
  "devices.status",
  "devices.lastSeenAt",
  "devices.lastSeenIp",
  "devices.enrolledAt",
  "devices.tags",
  "devices.customFields",
  "devices.lastUser",
  "devices.uptimeSeconds",
  "devices.isHeadless",
  "devices.pendingReboot",
  "devices.watchdogStatus",
  "devices.watchdogVersion",
  "devices.mainAgentSilentSince",
  "devices.quarantinedAt",
  "devices.quarantinedReason",
  "devices.createdAt",
  "devices.updatedAt",
] as const;

/**
 * A device that the caller reaches: 404 outside its tenant, 403 at another site of its organization
 * (docs/conventions.md, "Site rule").
 */
export async function getDevice(call: Pick<Call, "who" | "readAsSystem">, db: Reader, id: string) {
  const device = await byId(db, { id });
  if (!device) throw await unseen(call, "devices", id);
  return device;
}

const byId = prepared(["id"], (db, at) =>
  db
    .selectFrom("devices")
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .select(deviceColumns)
    .select("organizations.name as orgName")
    .where("devices.id", "=", at.id),
);

export type DeviceRow = Awaited<ReturnType<typeof getDevice>>;
