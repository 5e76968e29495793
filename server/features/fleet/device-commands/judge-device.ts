import { commandRules, type UserCommandType } from "#contract/core/command-types";
import type { ErrorCode } from "#contract/core/errors";
import type { AccessibleOrg } from "#server/access/org-access";
import type { DeviceStatus } from "#server/db/tables/fleet";
import type { Reader } from "#server/db/unit-of-work";
import { isOlder, refusalOf } from "./rules.ts";

export interface Target {
  readonly id: string;
  readonly orgId: string;
  readonly siteId: string | null;
  readonly hostname: string;
  readonly osType: string;
  readonly status: DeviceStatus;
  readonly agentVersion: string;
  readonly watchdogStatus: string | null;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly details?: Record<string, unknown>;
}

/** Why this device is not sent a command of this type now; undefined = it is. */
export function refusalFor(
  device: Target,
  type: UserCommandType,
  payload: Readonly<Record<string, unknown>>,
): Refusal | undefined {
  const code = refusalOf(device.status);
  if (code !== undefined) return { code, ...(code === "INVALID_STATE" ? { details: { status: device.status } } : {}) };
  if (type === "wake") return undefined;
  const { os } = commandRules(type);
  if (os !== undefined && device.osType !== os) return { code: "UNSUPPORTED_OS" };
  const version = payload["version"];
  if (type === "update" && typeof version === "string" && isOlder(version, device.agentVersion))
    return { code: "VALIDATION_ERROR", details: [{ path: "payload.version", message: OLDER }] as never };
  return undefined;
}

export const OLDER = "payload.version: is older than the agent";

const readOnly: readonly string[] = ["offboarding", "archived", "merging", "purging", "churned"];

/** What the organization's status says to it (docs/conventions.md, "Read-only organizations"). */
export function refusalOfOrg({ status }: Pick<AccessibleOrg, "status">): Refusal | undefined {
  if (readOnly.includes(status)) return { code: "ORG_READ_ONLY", details: { status } };
  return status === "suspended" ? { code: "ORG_SUSPENDED" } : undefined;
}

/** One inventory that is on its way is enough. */
export async function findPending(db: Reader, device: Pick<Target, "id" | "orgId">, type: UserCommandType) {
  if (type !== "refresh_inventory") return undefined;
  return db
    .selectFrom("deviceCommands")
    .select("id")
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .where("type", "=", "refresh_inventory")
    .where("status", "in", ["pending", "sent"])
    .executeTakeFirst();
}
