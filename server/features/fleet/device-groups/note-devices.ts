import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/**
 * Names devices in the entry of a group. Whoever is confined to sites sees it only where all of these devices are
 * theirs, also of a group of the whole organization (docs/audit.md, "Who reads which entries").
 */
export async function noteDevices(
  call: Pick<Call, "audit">,
  tx: Tx,
  { orgId, siteId }: { orgId: string; siteId: string | null },
  named: { deviceId: string } | { deviceIds: readonly string[] },
): Promise<void> {
  const ids = "deviceId" in named ? [named.deviceId] : named.deviceIds;
  const places = tx.selectFrom("devices").select("siteId").distinct().where("orgId", "=", orgId);
  const devices = ids.length === 0 ? [] : await places.where("id", "in", ids).execute();
  call.audit.note({ details: named, siteIds: [siteId, ...devices.map((device) => device.siteId)] });
}
