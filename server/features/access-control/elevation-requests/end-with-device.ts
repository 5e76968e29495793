import { held } from "#server/db/dialect/locks";
import { word } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import type { EventServices } from "#server/room-hooks";
import { type HeldElevation, heldColumns } from "./columns.ts";
import { queueCleanUp } from "./command-ended.ts";
import { expire } from "./expire.ts";
import { bySystem } from "./ledger.ts";
import { markRevoked } from "./mark-revoked.ts";
import { eventData, siteOf } from "./told-of.ts";
import { isToolAction } from "./tool-action.ts";

interface Gone {
  readonly deviceId: string;
  readonly orgId: string;
  /** `device_moved`, `device_decommissioned`, `device_quarantined`. */
  readonly reason: string;
  /** To another organization: the requests stay here, under its name. */
  readonly leaves: boolean;
}

/**
 * A device that moves, leaves or is shut away takes no rights along: what waits expires, what is open is revoked. The
 * device, which whoever calls holds, is told to end them right after the commit, where anything still reaches it. Needs
 * an unscoped transaction.
 */
export async function endWithDevice(
  tx: Tx,
  services: EventServices,
  { deviceId, orgId, reason, leaves }: Gone,
): Promise<Record<string, unknown>> {
  await holdCommands(tx, services, deviceId);
  const rows = tx
    .selectFrom("elevationRequests")
    .select(heldColumns)
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .where("status", "in", [word("pending"), word("approved"), word("auto_approved"), word("actuating")])
    .orderBy("id");
  const open = await held(rows, services.store.dialect).execute();
  for (const elevation of open) await end(tx, services, { elevation, reason });
  if (leaves)
    await tx
      .updateTable("elevationRequests")
      .set({ deviceId: null })
      .where("orgId", "=", orgId)
      .where("deviceId", "=", deviceId)
      .execute();
  return open.length === 0 ? {} : { endedElevations: open.length };
}

/** Commands come before requests, as where a command ends by itself: nobody waits in a circle. */
async function holdCommands(tx: Tx, { store }: EventServices, deviceId: string): Promise<void> {
  const open = tx
    .selectFrom("deviceCommands")
    .select("id")
    .where("deviceId", "=", deviceId)
    .where("status", "in", [word("pending"), word("sent")])
    .orderBy("id");
  await held(open, store.dialect).execute();
}

async function end(
  tx: Tx,
  services: EventServices,
  { elevation, reason }: { elevation: HeldElevation; reason: string },
): Promise<void> {
  if (elevation.status === "pending") {
    await expire(tx, services, { elevation, cause: "moved", enforcementStatus: "none" });
    return;
  }
  const revoked = await markRevoked(tx, services, { elevation, by: bySystem, reason });
  if (!revoked) return;
  if (reason === "device_decommissioned" && !isToolAction(revoked)) await giveUp(tx, revoked);
  else await queueCleanUp(tx, services, revoked);
  const place = { orgId: revoked.orgId, siteId: await siteOf(tx, revoked) };
  await emitEvents(tx, services, "elevation.revoked", [{ ...place, data: eventData(revoked) }]);
}

/** Nothing is handed to it any more; its agent ends the rights by itself when it is told so. */
const giveUp = (tx: Tx, { id }: HeldElevation) =>
  tx.updateTable("elevationRequests").set({ enforcementStatus: "cleanup_failed" }).where("id", "=", id).execute();
