import type { Selectable } from "kysely";
import { commandRules } from "#contract/core/command-types";
import { attempt } from "#server/db/attempt";
import type { DeviceCommandsTable } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import type { EventServices } from "#server/room-hooks";
import type { CommandStatus } from "./rules.ts";

export type EndedCommand = Pick<
  Selectable<DeviceCommandsTable>,
  | "id"
  | "orgId"
  | "deviceId"
  | "hostname"
  | "type"
  | "payload"
  | "originKind"
  | "originId"
  | "runMs"
  | "sentAt"
  | "createdBy"
  | "outcome"
>;

export const endedColumns = [
  "id",
  "orgId",
  "deviceId",
  "hostname",
  "type",
  "payload",
  "originKind",
  "originId",
  "runMs",
  "sentAt",
  "createdBy",
  "outcome",
] as const;

export interface Ending {
  readonly status: Exclude<CommandStatus, "pending" | "sent">;
  readonly result: Readonly<Record<string, unknown>>;
}

/**
 * What an ended command means for the room of its type. That room's failure fails the command and nothing else: the
 * agent has done its part. Returns what the rooms say for the audit entry.
 */
export async function tellRooms(
  tx: Tx,
  services: EventServices,
  { command, ending, now }: { command: EndedCommand; ending: Ending; now: string },
): Promise<{ failed: boolean; details: Record<string, unknown> }> {
  const told = await tellHooks(tx, services, { command, ending, now });
  await emitEnd(tx, services, command, told.failed && ending.status === "completed" ? "failed" : ending.status);
  return told;
}

/** Somebody waits for a live one, and checks come again by themselves: of those nobody else is told. */
async function emitEnd(tx: Tx, services: EventServices, command: EndedCommand, status: string): Promise<void> {
  const { live, keptMs } = commandRules(command.type);
  if (live || keptMs !== undefined || command.deviceId === null) return;
  const device = await tx
    .selectFrom("devices")
    .select(["siteId", "displayName"])
    .where("id", "=", command.deviceId)
    .executeTakeFirst();
  const kind = status === "completed" ? "device.command.completed" : "device.command.failed";
  const exitCode = command.outcome?.["exitCode"];
  const data = {
    deviceId: command.deviceId,
    deviceName: device?.displayName ?? command.hostname,
    commandId: command.id,
    commandType: command.type,
    status,
    exitCode: typeof exitCode === "number" ? exitCode : null,
  };
  await emitEvents(tx, services, kind, [{ orgId: command.orgId, siteId: device?.siteId ?? null, data }]);
}

async function tellHooks(
  tx: Tx,
  services: EventServices,
  { command, ending, now }: { command: EndedCommand; ending: Ending; now: string },
): Promise<{ failed: boolean; details: Record<string, unknown> }> {
  const tell = () =>
    services.hooks.onCommandEnded({
      tx,
      services,
      now,
      command: { ...command, status: ending.status, result: ending.result },
    });
  const told = await attempt(tx, tell);
  if ("done" in told) return { failed: false, details: told.done };
  services.log.error("command.consumer_failed", { commandId: command.id, type: command.type, error: told.error });
  if (ending.status !== "completed") return { failed: true, details: {} };
  const result = { ...ending.result, status: "failed", error: "The result could not be processed" };
  await tx
    .updateTable("deviceCommands")
    .set({ status: "failed", outcome: result, updatedAt: now })
    .where("id", "=", command.id)
    .where("status", "=", "completed")
    .execute();
  return { failed: true, details: {} };
}
