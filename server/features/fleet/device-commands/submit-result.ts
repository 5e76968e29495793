import { type CommandType, commandRules } from "#contract/core/command-types";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import type { Services } from "#server/services";
import { type EndedCommand, type Ending, endedColumns, tellRooms } from "./end-command.ts";
import { lateResult, type ReportedResult, resultOf } from "./results.ts";
import { isLastType } from "./rules.ts";
import { sealAnswer } from "./sealed-payload.ts";

export interface Answering {
  readonly commandId: string;
  readonly deviceId: string;
  readonly role: "agent" | "watchdog";
  /** Refuses what a device that is being let go may not answer: all but its uninstall. */
  readonly refuseOther?: (() => void) | undefined;
  /** The answer, cut to what the type may say. */
  readonly report: (type: CommandType) => ReportedResult;
}

export type Submitted =
  | { readonly ignored: true; readonly command: EndedCommand }
  | { readonly ignored: false; readonly command: EndedCommand; readonly ending: Ending; readonly details: object };

/**
 * Takes the answer of an agent: the first one ends the command, which the room of its type hears of in the same
 * transaction; any other is ignored, and the first of those kept beside the result (docs/fleet.md, "Results of
 * commands"). Needs an unscoped transaction. 404 for a command of another device or of its other credential.
 */
export async function submitResult(
  tx: Tx,
  services: EventServices & Pick<Services, "vault">,
  { commandId, deviceId, role, refuseOther, report }: Answering,
): Promise<Submitted> {
  const now = services.clock.now();
  const found = await tx
    .selectFrom("deviceCommands")
    .select([...endedColumns, "targetRole"])
    .where("id", "=", commandId)
    .where("deviceId", "=", deviceId)
    .executeTakeFirst();
  if (!found || found.targetRole !== role) throw problem("NOT_FOUND");
  if (!isLastType(found.type)) refuseOther?.();
  const live = commandRules(found.type).live === true;
  const reported = report(found.type);
  const ending: Ending = { status: reported.status, result: resultOf(reported) };
  const command = await tx
    .updateTable("deviceCommands")
    .set({
      status: ending.status,
      completedAt: now,
      payloadSealed: null,
      outcome: live ? withoutContent(ending.result) : ending.result,
      answerSealed: live ? sealAnswer(services.vault, commandId, ending.result) : null,
      updatedAt: now,
    })
    .where("id", "=", commandId)
    .where("status", "=", "sent")
    .returning(endedColumns)
    .executeTakeFirst();
  if (!command) {
    await keepLate(tx, services, { commandId, reported, now });
    return { ignored: true, command: found };
  }
  const { details } = await tellRooms(tx, services, { command, ending, now });
  return { ignored: false, command, ending, details };
}

/** A live answer is handed over and not kept. */
const withoutContent = ({ status, exitCode, errorCode, durationMs }: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries({ status, exitCode, errorCode, durationMs }).filter(([, value]) => value !== undefined),
  );

/**
 * A second answer changes nothing; the first that comes late is kept, cut. Only a late uninstall still means something:
 * the agent is gone, whatever the command says.
 */
async function keepLate(
  tx: Tx,
  services: EventServices,
  { commandId, reported, now }: { commandId: string; reported: ReportedResult; now: string },
): Promise<void> {
  const row = tx
    .selectFrom("deviceCommands")
    .select([...endedColumns, "status"])
    .where("id", "=", commandId);
  const command = await held(row, services.store.dialect).executeTakeFirst();
  if (!command?.outcome || command.status === "pending" || "late" in command.outcome) return;
  const live = commandRules(command.type).live === true;
  const late = live ? withoutContent(resultOf(reported)) : lateResult(reported);
  await tx
    .updateTable("deviceCommands")
    .set({ outcome: { ...command.outcome, late }, updatedAt: now })
    .where("id", "=", commandId)
    .execute();
  if (reported.status !== "completed") return;
  await services.hooks.onLateResult({ tx, services, now, command: { ...command, result: resultOf(reported) } });
}
