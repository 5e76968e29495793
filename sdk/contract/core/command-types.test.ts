import { expect, it } from "vitest";
import { type CommandType, commandRules, commandTypes, transientTypes, userPayloads } from "./command-types.ts";

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60;

/** Longest wait and longest run, in minutes. */
const times: Readonly<Record<string, readonly [number, number]>> = {
  "refresh_inventory collect_logs": [15, 15],
  "reboot shutdown reboot_safe_mode lock wake_on_lan": [60, 5],
  "update script": [1_440, 0],
  "self_uninstall patch_scan rollback_patches": [WEEK, 60],
  "security_threat_quarantine security_threat_remove security_threat_restore software_uninstall": [WEEK, 60],
  "install_patches security_scan": [WEEK, 240],
  "software_install software_update": [1_440, 240],
  "script_cancel actuate_elevation": [WEEK, 5],
  "monitor_check snmp_poll snmp_test": [5, 5],
  network_discovery: [30, 240],
  policy_probe: [1_440, 5],
  revoke_elevation: [WEEK, 1],
};
const runs: Readonly<Record<string, number>> = { update: 60, script: 5 };

it("each type waits and runs as long as its kind may, and people send eight of them", () => {
  const known = Object.entries(times).flatMap(([names, [waitMs, runMs]]) =>
    names.split(" ").map((name) => [name, waitMs, runs[name] ?? runMs] as const),
  );
  for (const [name, wait, run] of known) {
    const { waitMs, runMs } = commandRules(name as CommandType);
    expect([waitMs / MINUTE, runMs / MINUTE], name).toEqual([wait, run]);
  }
  const live = (Object.keys(commandTypes) as CommandType[]).filter((type) => commandRules(type).live === true);
  for (const type of live) expect(commandRules(type), type).toMatchObject({ waitMs: 30_000, runMs: 30_000 });
  expect([...known.map(([name]) => name), ...live].sort()).toEqual(Object.keys(commandTypes).sort());
  const windows = live.filter((type) => /^(registry|event_log|event_logs|task|tasks)_/.test(type));
  for (const type of live) expect(commandRules(type).os, type).toBe(windows.includes(type) ? "windows" : undefined);
  expect(Object.keys(userPayloads)).toHaveLength(8);
  for (const type of transientTypes) expect(Object.keys(commandTypes)).not.toContain(type);
});

it.each([
  ["reboot", { delayMinutes: 0 }, true],
  ["reboot", { delayMinutes: 1_440, reason: "r".repeat(255) }, true],
  ["shutdown", { delayMinutes: 1_441 }, false],
  ["shutdown", { delayMinutes: 1.5 }, false],
  ["reboot", { reason: "r".repeat(256) }, false],
  ["reboot", { reason: "line\nbreak" }, false],
  ["reboot", { reason: "turned\u202eround" }, false],
  ["reboot", { force: true }, false],
  ["lock", { reason: "away" }, false],
  ["wake", { macs: [] }, false],
  ["refresh_inventory", {}, true],
  ["update", {}, true],
  ["update", { version: "2.10.0-rc.1" }, true],
  ["update", { version: "2.10" }, false],
  ["update", { version: `1.2.3-${"a".repeat(33)}` }, false],
  ["update", { version: "1.2.3-a_b" }, false],
] as const)("the payload of %s is what people may say: %j", (type, payload, taken) => {
  expect(userPayloads[type]().safeParse(payload).success).toBe(taken);
});
