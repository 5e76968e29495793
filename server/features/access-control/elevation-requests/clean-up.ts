import { asSystem } from "#server/db/as-system";
import { word } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import type { Services } from "#server/services";
import type { HeldElevation } from "./columns.ts";
import { CLEANUP_TRIES, isBeingEnded, isSevered, queueEnding } from "./commands.ts";
import { holdElevation, holdMachine } from "./hold.ts";
import { addLine, bySystem } from "./ledger.ts";
import { eachDue, type Found, type Wake } from "./sweep.ts";
import { isToolAction } from "./tool-action.ts";

const BATCH = 200;

/**
 * Has devices end rights that were taken back or ran out, again until they say so, up to five times
 * (docs/elevation-requests.md, "Ending").
 */
export const cleanUp = (services: Services): Promise<number> => {
  const due = (db: Pick<Tx, "selectFrom">, past: string) => {
    const query = db
      .selectFrom("elevationRequests")
      .select(["id", "orgId", "cleanupDeviceId as deviceId"])
      .where("enforcementStatus", "=", word("cleanup_pending"))
      .orderBy("id")
      .limit(BATCH);
    return (past === "" ? query : query.where("id", ">", past)).execute();
  };
  return eachDue(services, due, (tx, one, wake) => cleanUpOne(tx, services, one, wake));
};

/** The same of one request, right after it ended in a transaction that could not tell its device. */
export async function cleanUpSoon(services: Services, { id, orgId }: { id: string; orgId: string }): Promise<void> {
  const db = asSystem(services, "decide elevations");
  const row = await db
    .selectFrom("elevationRequests")
    .select(["id", "orgId", "cleanupDeviceId as deviceId"])
    .where("id", "=", id)
    .where("orgId", "=", orgId)
    .where("enforcementStatus", "=", word("cleanup_pending"))
    .executeTakeFirst();
  if (!row) return;
  const told: string[] = [];
  await db.transaction().execute((tx) => cleanUpOne(tx, services, row, (deviceId) => void told.push(deviceId)));
  for (const deviceId of told) tellDevice(services, deviceId);
}

/** True where something changed. A quarantined device is told once it may be. */
async function cleanUpOne(tx: Tx, services: Services, { id, orgId, deviceId }: Found, wake: Wake): Promise<boolean> {
  const machine = deviceId === null ? undefined : await holdMachine(tx, services, deviceId);
  const elevation = await holdElevation(tx, services, { id, orgId });
  if (elevation?.enforcementStatus !== "cleanup_pending" || (await isBeingEnded(tx, id))) return false;
  if (isToolAction(elevation)) return cleanedUp(tx, services, elevation);
  if (machine?.status === "quarantined") return false;
  if (machine === undefined || isSevered(machine) || elevation.cleanupTries >= CLEANUP_TRIES) {
    await tx
      .updateTable("elevationRequests")
      .set({ enforcementStatus: "cleanup_failed" })
      .where("id", "=", id)
      .where("enforcementStatus", "=", "cleanup_pending")
      .execute();
    return true;
  }
  const cause = elevation.status === "expired" ? "expired" : "revoked";
  await queueEnding(tx, services, { elevation, machine, cause });
  wake(machine.id);
  return true;
}

/** A call of a tool left nothing on a device that could be ended. */
async function cleanedUp(tx: Tx, services: Services, elevation: HeldElevation): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("elevationRequests")
    .set({ enforcementStatus: "cleaned" })
    .where("id", "=", elevation.id)
    .where("enforcementStatus", "=", "cleanup_pending")
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await addLine(tx, services, elevation, { event: "cleaned", by: bySystem });
  return true;
}
