import { skipsLocked } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { endOne } from "#server/features/fleet/device-commands/end-open-commands";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import type { EventServices } from "#server/room-hooks";
import type { HeldElevation } from "./columns.ts";
import type { HeldMachine } from "./hold.ts";

/** Of commands whose result is about a request. */
export const ORIGIN = "elevation-request";

/** Tries to have a device end the rights. */
export const CLEANUP_TRIES = 5;

/**
 * Takes back the order to carry an approval out that no agent has claimed; the request, which this transaction holds, is
 * no longer `actuating`. One that another transaction holds is being claimed or ended, and is left to it: a claim looks
 * at the request once more. Waiting for it here could be waiting in a circle.
 */
export async function cancelActuation(tx: Tx, services: EventServices, id: string): Promise<void> {
  let waiting = tx
    .selectFrom("deviceCommands")
    .select("id")
    .where("originKind", "=", ORIGIN)
    .where("originId", "=", id)
    .where("type", "=", "actuate_elevation")
    .where("status", "=", "pending");
  if (skipsLocked(services.store)) waiting = waiting.forUpdate().skipLocked();
  const now = services.clock.now();
  for (const command of await waiting.execute())
    await endOne(tx, services, { id: command.id, status: "pending", reason: "elevation_ended", now });
}

/** Whether the order to carry it out was ever handed to the agent. */
export async function wasClaimed(tx: Tx, id: string): Promise<boolean> {
  const sent = await tx
    .selectFrom("deviceCommands")
    .select("id")
    .where("originKind", "=", ORIGIN)
    .where("originId", "=", id)
    .where("type", "=", "actuate_elevation")
    .where("sentAt", "is not", null)
    .executeTakeFirst();
  return sent !== undefined;
}

/** Whether the device is being told to end the rights already. */
export async function isBeingEnded(tx: Tx, id: string): Promise<boolean> {
  const open = await tx
    .selectFrom("deviceCommands")
    .select("id")
    .where("originKind", "=", ORIGIN)
    .where("originId", "=", id)
    .where("type", "=", "revoke_elevation")
    .where("status", "in", ["pending", "sent"])
    .executeTakeFirst();
  return open !== undefined;
}

interface Ending {
  readonly elevation: Pick<HeldElevation, "id" | "cleanupTries">;
  /** Held by this transaction, as the request is. */
  readonly machine: HeldMachine;
  readonly cause: "revoked" | "expired";
}

/** Tells the device to end the rights. Wake it with `tellDevice` after the commit. */
export async function queueEnding(tx: Tx, services: EventServices, { elevation, machine, cause }: Ending) {
  await insertCommand(tx, services, {
    device: machine,
    type: "revoke_elevation",
    payload: { elevationRequestId: elevation.id, cause },
    origin: { kind: ORIGIN, id: elevation.id },
  });
  await tx
    .updateTable("elevationRequests")
    .set({ cleanupTries: elevation.cleanupTries + 1 })
    .where("id", "=", elevation.id)
    .execute();
}

/** Nothing reaches the agent any more. */
export const isSevered = (machine: Pick<HeldMachine, "status" | "agentTokenHash"> | undefined): boolean =>
  machine === undefined || machine.status === "decommissioned" || machine.agentTokenHash === null;
