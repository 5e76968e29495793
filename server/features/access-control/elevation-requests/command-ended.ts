import { z } from "zod";
import { withoutInvisible } from "#contract/core/characters";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import { enqueueJob } from "#server/jobs/queue";
import type { CommandEvent, EventServices } from "#server/room-hooks";
import { type HeldElevation, heldColumns } from "./columns.ts";
import { CLEANUP_TRIES, ORIGIN } from "./commands.ts";
import { holdElevation } from "./hold.ts";
import { addLine, type LedgerActor } from "./ledger.ts";
import { eventData, siteOf } from "./told-of.ts";

const ERROR_MAX = 2_000;

const outcomes = [
  "ok",
  "no_consent_window",
  "consent_did_not_close",
  "target_changed",
  "unknown_request",
  "error",
] as const;
const Answer = z.object({ outcome: z.enum(outcomes), detail: z.string().optional().catch(undefined) });

type Ended = CommandEvent["command"];

/** What the agent says came of it; anything that cannot be read is no success. */
function outcomeOf({ status, result }: Ended): { outcome: (typeof outcomes)[number]; detail: string } {
  const said = Answer.safeParse(result["data"]);
  if (status === "completed" && said.success)
    return { outcome: said.data.outcome, detail: said.data.detail ?? said.data.outcome };
  const why = [result["error"], result["reason"], status].find((one) => typeof one === "string") as string;
  return { outcome: "error", detail: status === "completed" ? "The agent's answer could not be read" : why };
}

const cut = (text: string) => withoutInvisible(text).slice(0, ERROR_MAX);

const byAgent = ({ deviceId, hostname }: Ended): LedgerActor => ({ type: "agent", id: deviceId, name: hostname });

async function heldOf(tx: Tx, services: EventServices, command: Ended): Promise<HeldElevation | undefined> {
  if (command.originKind !== ORIGIN || command.originId === null) return undefined;
  const row = await tx
    .selectFrom("elevationRequests")
    .select(["id", "orgId"])
    .where("id", "=", command.originId)
    .executeTakeFirst();
  return row && holdElevation(tx, services, row);
}

/** What the end of a command means for its request (docs/elevation-requests.md, "On the device"). */
export async function noteCommandEnded({ tx, services, command }: CommandEvent): Promise<void> {
  if (command.type === "actuate_elevation") return noteActuated(tx, services, command);
  if (command.type === "revoke_elevation") return noteEnded(tx, services, command);
}

/** Only while it is being carried out: whatever took the rights back meanwhile stands. */
async function noteActuated(tx: Tx, services: EventServices, command: Ended): Promise<void> {
  const elevation = await heldOf(tx, services, command);
  if (elevation?.status !== "actuating" || elevation.enforcementStatus !== "dispatched") return;
  const { outcome, detail } = outcomeOf(command);
  const done = outcome === "ok";
  const after = await tx
    .updateTable("elevationRequests")
    .set({ enforcementStatus: done ? "active" : "failed", enforcementError: done ? null : cut(detail) })
    .where("id", "=", elevation.id)
    .where("status", "=", "actuating")
    .returning(heldColumns)
    .executeTakeFirst();
  if (!after || !done) return;
  await addLine(tx, services, after, { event: "activated", by: byAgent(command), facts: { commandId: command.id } });
  const place = { orgId: after.orgId, siteId: await siteOf(tx, after) };
  await emitEvents(tx, services, "elevation.activated", [{ ...place, data: eventData(after) }]);
}

async function noteEnded(tx: Tx, services: EventServices, command: Ended): Promise<void> {
  const elevation = await heldOf(tx, services, command);
  if (elevation?.enforcementStatus !== "cleanup_pending") return;
  const { outcome } = outcomeOf(command);
  if (outcome === "ok" || outcome === "unknown_request") return markCleaned(tx, services, elevation, command);
  if (elevation.cleanupTries < CLEANUP_TRIES) return;
  await tx
    .updateTable("elevationRequests")
    .set({ enforcementStatus: "cleanup_failed" })
    .where("id", "=", elevation.id)
    .execute();
}

async function markCleaned(tx: Tx, services: EventServices, elevation: HeldElevation, command: Ended): Promise<void> {
  await tx
    .updateTable("elevationRequests")
    .set({ enforcementStatus: "cleaned" })
    .where("id", "=", elevation.id)
    .execute();
  await addLine(tx, services, elevation, { event: "cleaned", by: byAgent(command), facts: { commandId: command.id } });
}

/**
 * The device carried an approval out after the server had given it up: it is told to end the rights at once, by a job,
 * since whoever holds a command may not wait for its device.
 */
export async function noteLateResult({ tx, services, command }: CommandEvent): Promise<void> {
  if (command.type !== "actuate_elevation") return;
  const elevation = await heldOf(tx, services, command);
  if (elevation?.enforcementStatus !== "failed") return;
  await tx
    .updateTable("elevationRequests")
    .set({ enforcementStatus: "cleanup_pending", cleanupDeviceId: elevation.deviceId, cleanupTries: 0 })
    .where("id", "=", elevation.id)
    .execute();
  await queueCleanUp(tx, services, elevation);
}

/** In the transaction that ends the rights. */
export const queueCleanUp = (
  tx: Tx,
  services: Pick<EventServices, "clock" | "random">,
  { id, orgId }: { id: string; orgId: string },
): Promise<void> =>
  enqueueJob(tx, services, {
    kind: "elevation-requests.clean-up",
    payload: { id, orgId },
    uniqueKey: `elevation ${id}`,
  });
