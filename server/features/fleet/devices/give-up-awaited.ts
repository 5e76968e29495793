import { atSite } from "#server/audit/at-site";
import { recordWork } from "#server/audit/record-work";
import { asSystem } from "#server/db/as-system";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";
import { decommission } from "./decommission.ts";
import { nameOfDevice } from "./name-of-device.ts";

const AWAITED_MS = 30 * DAY;
const BATCH = 200;

/** Takes devices out of service that have not come 30 days after their last key ended. Returns how many. */
export async function giveUpAwaited(services: Services): Promise<number> {
  const before = after(services.clock.now(), -AWAITED_MS);
  let total = 0;
  for (let found = BATCH; found === BATCH; ) {
    const due = await overdue(asSystem(services, "sweep devices"), before).limit(BATCH).execute();
    found = due.length;
    for (const { id } of due) {
      const work = (tx: Tx) => giveUp(tx, services, { id, before });
      if (await asSystem(services, "sweep devices").transaction().execute(work)) total += 1;
    }
  }
  if (total > 0) services.wakeAuditWriter();
  return total;
}

const overdue = (db: Pick<Tx, "selectFrom">, before: string) =>
  db
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "hostname", "displayName"])
    .where("status", "=", "pending")
    .where("provisionKeyExpiresAt", "<=", before);

/** Looked at again under its lock: it may have come, or been given a new key. */
async function giveUp(tx: Tx, services: Services, { id, before }: { id: string; before: string }): Promise<boolean> {
  const row = overdue(tx, before).where("id", "=", id);
  const device = await held(row, services.store.dialect).executeTakeFirst();
  if (!device) return false;
  const { orgId, siteId } = device;
  const now = services.clock.now();
  const details = await decommission(tx, services, { id, orgId, from: "pending", now });
  if (!details) return false;
  await recordWork(tx, services, {
    orgId,
    action: "device.delete",
    resourceType: "device",
    resourceId: id,
    resourceName: device.hostname,
    details: { previousStatus: "pending", reason: "never_enrolled", ...details, ...atSite(siteId) },
  });
  await emitEvents(tx, services, "device.decommissioned", [{ orgId, siteId, data: nameOfDevice(device) }]);
  return true;
}
