import type { Selectable } from "kysely";
import { commandRules, isCommandType } from "#contract/core/command-types";
import type { DeviceCommandsTable } from "#server/db/tables/fleet";

/** Every column that the API shows of a command. */
export const commandColumns = [
  "deviceCommands.id",
  "deviceCommands.orgId",
  "deviceCommands.deviceId",
  "deviceCommands.type",
  "deviceCommands.payload",
  "deviceCommands.status",
  "deviceCommands.targetRole",
  "deviceCommands.originKind",
  "deviceCommands.originId",
  "deviceCommands.createdBy",
  "deviceCommands.queuedAt",
  "deviceCommands.sentAt",
  "deviceCommands.completedAt",
  "deviceCommands.expiresAt",
  "deviceCommands.outcome",
  "deviceCommands.updatedAt",
] as const;

type Shown = Omit<Selectable<DeviceCommandsTable>, "payloadSealed" | "answerSealed" | "runMs" | "hostname">;

/** Of types that people do not send, only how it went: the rest is read where its feature is (docs/fleet.md, "Commands"). */
export function commandView({ originKind, originId, outcome, ...row }: Shown) {
  const open = isCommandType(row.type) && commandRules(row.type).byUsers === true;
  return {
    ...row,
    origin: originKind !== null && originId !== null ? { kind: originKind, id: originId } : null,
    payload: open ? row.payload : null,
    result: resultView(outcome, open),
    createdAt: row.queuedAt,
  };
}

const always = ["status", "exitCode", "errorCode", "durationMs", "reason"];

/** A late result is for whoever looks into the database: it has changed nothing. */
function resultView(result: Record<string, unknown> | null, open: boolean): ({ status: string } & object) | null {
  if (result === null) return null;
  const entries = Object.entries(result).filter(([name]) => (open ? name !== "late" : always.includes(name)));
  return { status: String(result["status"]), ...Object.fromEntries(entries) };
}
