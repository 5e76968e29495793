import type { Updateable } from "kysely";
import type { DeviceStatus, DevicesTable } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";

/** What a device that enrolls again reports, with the hashes of its new tokens. */
type Rekeyed = Pick<
  Updateable<DevicesTable>,
  | "agentId"
  | "enrolledAt"
  | "hostname"
  | "osType"
  | "osVersion"
  | "osBuild"
  | "architecture"
  | "agentVersion"
  | "isVirtual"
  | "deviceRole"
  | "siteId"
  | "status"
  | "lastSeenAt"
  | "lastSeenIp"
  | "agentTokenHash"
  | "watchdogTokenHash"
  | "previousAgentTokenHash"
  | "previousWatchdogTokenHash"
  | "previousTokensExpireAt"
  | "tokensIssuedAt"
  | "enrollmentProof"
  | "enrollmentProofUntil"
  | "enrollmentSecretHash"
  | "updatedAt"
>;

/** Gives a device that proved itself new tokens. False when its status is no longer the one that was read. */
export async function rekeyDevice(
  tx: Tx,
  known: { id: string; status: DeviceStatus },
  change: Rekeyed,
): Promise<boolean> {
  const changed = await tx
    .updateTable("devices")
    .set({ ...change, mainAgentSilentSince: null })
    .where("id", "=", known.id)
    .where("status", "=", known.status)
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n;
}
