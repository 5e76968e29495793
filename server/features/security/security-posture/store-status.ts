import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import type { SecurityReport } from "#contract/resources/security/security-posture";
import type { Json } from "#server/db/column-types";
import type { Tx } from "#server/db/unit-of-work";
import { judge } from "./rules.ts";

type Report = z.output<ReturnType<typeof SecurityReport>>;

/**
 * Replaces what is known of the protection of a device; the same report again writes nothing. Under the lock of the
 * device's row. `threatCount` is undefined where nothing was said of threats (docs/security.md, "Reports").
 */
export async function storeStatus(
  tx: Tx,
  now: string,
  device: { id: string; orgId: string },
  { facts, threatCount }: { facts: Report; threatCount: number | undefined },
): Promise<void> {
  const stored = await tx
    .selectFrom("deviceSecurity")
    .selectAll()
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .executeTakeFirst();
  const counted = { ...columnsOf(facts), threatCount: threatCount ?? stored?.threatCount ?? 0 };
  const row = { ...counted, ...judge(counted) };
  const { orgId: _, deviceId: __, updatedAt: ___, ...known } = stored ?? { orgId: "", deviceId: "", updatedAt: "" };
  if (isDeepStrictEqual({ ...known }, row)) return;
  await tx
    .insertInto("deviceSecurity")
    .values({ orgId: device.orgId, deviceId: device.id, ...row, updatedAt: now })
    .onConflict((conflict) => conflict.columns(["orgId", "deviceId"]).doUpdateSet({ ...row, updatedAt: now }))
    .execute();
}

const columnsOf = (facts: Report) => ({
  providerId: facts.provider?.id ?? null,
  providerName: facts.provider?.name ?? null,
  providerVendor: facts.provider?.vendor ?? null,
  providerVersion: facts.providerVersion ?? null,
  definitionsVersion: facts.definitionsVersion ?? null,
  definitionsUpdatedAt: facts.definitionsUpdatedAt ?? null,
  realTimeProtection: facts.realTimeProtection ?? null,
  firewallEnabled: facts.firewallEnabled ?? null,
  firewallProfiles: asStored<Json>(facts.firewallProfiles),
  encryptionStatus: facts.encryptionStatus ?? null,
  encryptionDetails: asStored<Json>(facts.encryptionDetails),
  recoveryKeyEscrowed: facts.recoveryKeyEscrowed ?? null,
  gatekeeperEnabled: facts.gatekeeperEnabled ?? null,
  localAdmins: asStored<Json[]>(facts.localAdmins?.map((one) => (typeof one === "string" ? { username: one } : one))),
  passwordPolicy: asStored<Json>(facts.passwordPolicy),
  openPorts: asStored<Json[]>(facts.openPorts),
  lastScanAt: facts.lastScanAt ?? null,
  lastScanType: facts.lastScanType ?? null,
});

/** As it is read again: without keys that are undefined, and without a negative zero. */
const asStored = <T>(value: unknown): T | null => JSON.parse(JSON.stringify(value ?? null)) as T | null;
