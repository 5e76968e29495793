import type { CommandType } from "#contract/core/command-types";
import type { commandStatuses } from "#contract/resources/fleet/device-commands";
import type { DeviceStatus } from "#server/db/tables/fleet";

export type CommandStatus = (typeof commandStatuses)[number];

/** Every change of status there is (docs/fleet.md, "Commands"). Terminal statuses lead nowhere. */
export const transitions = {
  pending: ["sent", "cancelled"],
  sent: ["pending", "completed", "failed", "timeout"],
  completed: [],
  failed: [],
  timeout: [],
  cancelled: [],
} as const satisfies Record<CommandStatus, readonly CommandStatus[]>;

export const isOpen = (status: CommandStatus): status is "pending" | "sent" =>
  status === "pending" || status === "sent";

/** How an open command ends when nobody answers it: what was never claimed did not run, the rest may have. */
export const endWithoutAnswer = { pending: "cancelled", sent: "timeout" } as const;

export const MASK = "********";

const secretKey = /password|secret|token|communit|credential|^headers$|key|passphrase/i;

/** A payload as people see it; `hidden` says whether anything in it was masked. */
export function masked(payload: Readonly<Record<string, unknown>>): {
  shown: Record<string, unknown>;
  hidden: boolean;
} {
  let hidden = false;
  const of = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(of);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (!secretKey.test(key)) return [key, of(inner)];
        hidden = true;
        return [key, MASK];
      }),
    );
  };
  const shown = of(payload) as Record<string, unknown>;
  return { shown, hidden };
}

/** What is still handed to a device that is being let go, and answered by it. */
export const lastTypes = ["self_uninstall", "revoke_elevation"] as const satisfies readonly CommandType[];

export const isLastType = (type: CommandType): boolean => (lastTypes as readonly CommandType[]).includes(type);

/** Types that the watchdog runs while it stands in for an agent that is silent. */
const watchdogTypes: readonly string[] = ["update", "reboot", "collect_logs"];

export const targetRoleOf = (type: string, watchdogStatus: string | null): "agent" | "watchdog" =>
  watchdogStatus === "failover" && watchdogTypes.includes(type) ? "watchdog" : "agent";

export type DeviceRefusal = "DEVICE_DECOMMISSIONED" | "INVALID_STATE";

/** Why a device of this status is sent no command. */
export function refusalOf(status: DeviceStatus): DeviceRefusal | undefined {
  if (status === "decommissioned") return "DEVICE_DECOMMISSIONED";
  return status === "pending" || status === "quarantined" ? "INVALID_STATE" : undefined;
}

/** Three dotted numbers; of what follows them only that it is there counts: a tag comes before the version itself. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [partsOf(version), partsOf(than)];
  if (a === undefined || b === undefined) return false;
  for (const at of [0, 1, 2] as const) if (a[at] !== b[at]) return (a[at] as number) < (b[at] as number);
  return a[3] === 0 && b[3] === 1;
}

/** The last part: 0 with a tag, 1 without. */
function partsOf(version: string): number[] | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)(-.*)?$/.exec(version);
  return match ? [...match.slice(1, 4).map(Number), match[4] === undefined ? 1 : 0] : undefined;
}
