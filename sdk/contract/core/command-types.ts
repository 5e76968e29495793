import { z } from "zod";
import type { UserCommandType } from "./user-command-types.ts";

export { type UserCommandType, userCommandTypes } from "./user-command-types.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How a type of command is queued, and how long it may take (docs/fleet.md, "Types of commands"). */
interface CommandRules {
  /** Longest time unclaimed. */
  readonly waitMs: number;
  /** Longest time after the claim. */
  readonly runMs: number;
  /** People queue it themselves; payload and result are shown where commands are listed. */
  readonly byUsers?: true;
  readonly os?: "windows";
  /** Somebody waits for the answer, which is handed over and not kept. */
  readonly live?: true;
  /** Times are the caller's: of a script, a window, an elevation. */
  readonly ownTimes?: true;
  /** Kept after its end; 90 days where nothing is said. */
  readonly keptMs?: number;
}

const SHORT = 5 * MINUTE;
const MEDIUM = HOUR;
const LONG = 4 * HOUR;
const WEEK = 7 * DAY;

const rules = (waitMs: number, runMs: number, more: Omit<CommandRules, "waitMs" | "runMs"> = {}): CommandRules => ({
  waitMs,
  runMs,
  ...more,
});
const live = (os?: "windows"): CommandRules => rules(30 * SECOND, 30 * SECOND, { live: true, ...(os && { os }) });
const registry = live("windows");
const events = live("windows");
const tasks = live("windows");
const files = live();

/** Every type of command that is stored. Closed list: an agent answers `unsupported` to any other. */
export const commandTypes = {
  refresh_inventory: rules(15 * MINUTE, 15 * MINUTE, { byUsers: true }),
  collect_logs: rules(15 * MINUTE, 15 * MINUTE, { byUsers: true }),
  reboot: rules(HOUR, SHORT, { byUsers: true }),
  shutdown: rules(HOUR, SHORT, { byUsers: true }),
  reboot_safe_mode: rules(HOUR, SHORT, { byUsers: true, os: "windows" }),
  lock: rules(HOUR, SHORT, { byUsers: true }),
  wake_on_lan: rules(HOUR, SHORT, { byUsers: true }),
  update: rules(DAY, MEDIUM, { byUsers: true }),
  self_uninstall: rules(WEEK, MEDIUM),
  script: rules(DAY, SHORT, { ownTimes: true }),
  script_cancel: rules(WEEK, SHORT),
  patch_scan: rules(WEEK, MEDIUM),
  install_patches: rules(WEEK, LONG),
  rollback_patches: rules(WEEK, MEDIUM),
  security_scan: rules(WEEK, LONG),
  security_threat_quarantine: rules(WEEK, MEDIUM),
  security_threat_remove: rules(WEEK, MEDIUM),
  security_threat_restore: rules(WEEK, MEDIUM),
  software_install: rules(DAY, LONG, { ownTimes: true }),
  software_update: rules(DAY, LONG, { ownTimes: true }),
  software_uninstall: rules(WEEK, MEDIUM, { ownTimes: true }),
  monitor_check: rules(5 * MINUTE, SHORT, { keptMs: DAY }),
  network_discovery: rules(30 * MINUTE, LONG),
  snmp_poll: rules(5 * MINUTE, SHORT, { keptMs: DAY }),
  snmp_test: rules(5 * MINUTE, SHORT),
  policy_probe: rules(DAY, SHORT, { keptMs: DAY }),
  list_processes: live(),
  get_process: live(),
  kill_process: live(),
  list_services: live(),
  get_service: live(),
  start_service: live(),
  stop_service: live(),
  restart_service: live(),
  registry_keys: registry,
  registry_values: registry,
  registry_get: registry,
  registry_set: registry,
  registry_delete: registry,
  registry_key_create: registry,
  registry_key_delete: registry,
  event_logs_list: events,
  event_logs_query: events,
  event_log_get: events,
  tasks_list: tasks,
  task_get: tasks,
  task_history: tasks,
  task_run: tasks,
  task_enable: tasks,
  task_disable: tasks,
  file_list: files,
  file_read: files,
  file_write: files,
  actuate_elevation: rules(WEEK, SHORT, { ownTimes: true }),
  revoke_elevation: rules(WEEK, MINUTE),
} as const satisfies Record<string, CommandRules>;

export type CommandType = keyof typeof commandTypes;

export const isCommandType = (type: string): type is CommandType => Object.hasOwn(commandTypes, type);

export const commandRules = (type: CommandType): CommandRules => commandTypes[type];

/** Pushed to a connected agent and never stored. */
export const transientTypes = [
  "start_desktop",
  "desktop_ice",
  "desktop_input",
  "stop_desktop",
  "session_lease",
  "terminal_start",
  "terminal_data",
  "terminal_resize",
  "terminal_stop",
  "http_request",
  "tunnel_close",
] as const;

const none = () => z.strictObject({});
const restart = () =>
  z.strictObject({
    delayMinutes: z.int().min(0).max(1_440).optional(),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .regex(/^[^\p{Cc}\p{Cf}]*$/u, "must not hold control characters")
      .optional(),
  });

/** The payload of each type that people send; other keys are refused. */
export const userPayloads: Readonly<Record<UserCommandType, () => z.ZodType<Record<string, unknown>>>> = {
  refresh_inventory: none,
  collect_logs: none,
  reboot: restart,
  shutdown: restart,
  reboot_safe_mode: none,
  lock: none,
  wake: none,
  update: () =>
    z.strictObject({
      version: z
        .string()
        .regex(/^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.]{1,32})?$/, "must be three dotted numbers and maybe a tag")
        .optional(),
    }),
};
