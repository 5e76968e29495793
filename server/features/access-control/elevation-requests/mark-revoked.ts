import type { Tx } from "#server/db/unit-of-work";
import { followRequest } from "#server/features/access-control/tool-executions/store";
import type { EventServices } from "#server/room-hooks";
import { type HeldElevation, heldColumns } from "./columns.ts";
import { addLine, type LedgerActor } from "./ledger.ts";
import { leadingTo } from "./rules.ts";
import { isToolAction } from "./tool-action.ts";

interface Revoking {
  /** Held by this transaction. */
  readonly elevation: HeldElevation;
  readonly by: LedgerActor;
  readonly reason: string;
}

/** The rights are taken back and the device is to end them. Undefined where none are open. Needs an unscoped transaction. */
export async function markRevoked(
  tx: Tx,
  services: Pick<EventServices, "clock" | "random">,
  { elevation, by, reason }: Revoking,
): Promise<HeldElevation | undefined> {
  const revoked = await tx
    .updateTable("elevationRequests")
    .set({
      status: "revoked",
      revokedAt: services.clock.now(),
      revokedBy: by.id ?? null,
      revokedByName: by.name ?? null,
      revokedReason: reason,
      enforcementStatus: "cleanup_pending",
      cleanupDeviceId: elevation.deviceId,
      cleanupTries: 0,
    })
    .where("id", "=", elevation.id)
    .where("status", "in", leadingTo("revoked"))
    .returning(heldColumns)
    .executeTakeFirst();
  if (!revoked) return undefined;
  if (isToolAction(revoked)) await followRequest(tx, services, revoked, "rejected");
  await addLine(tx, services, revoked, { event: "revoked", by, facts: { reason, from: elevation.status } });
  return revoked;
}
