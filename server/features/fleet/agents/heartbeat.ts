import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import {
  type AgentSettings,
  noSettings,
  settingsForAgent,
} from "#server/features/automation/configuration-policies/settings-for-agent";
import { handedOut } from "#server/features/fleet/device-commands/claim-commands";
import { after, DAY } from "#server/platform/clock";
import { claimFor } from "./claim.ts";
import { type HeartbeatCall, recordMain } from "./heartbeat-main.ts";
import { recordWatchdog } from "./heartbeat-watchdog.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { intervals } from "./intervals.ts";
import { mayOnlyUninstall, ownDevice } from "./own-device.ts";

const TOKEN_AGE_MAX_MS = 30 * DAY;

/**
 * Handles a heartbeat (docs/fleet.md, "Heartbeat"). It is the most frequent write of the product: it decides on the row
 * that authentication read, so a heartbeat that changes nothing costs one update and, with metrics, one insert.
 *
 * `commands` is always present, because agents of every version read it, and so are the settings of configuration
 * policies, null where nothing of that type is known (docs/configuration-policies.md, "What agents are told").
 */
export async function heartbeat(call: HeartbeatCall) {
  const who = ownDevice(call);
  const { commands, settings } = await call.transaction(async (tx) => {
    await record(call, tx, who);
    return { commands: await claimFor(call, tx, who), settings: await settingsOf(tx, who) };
  });
  return { commands: commands.map(handedOut), ...answerOf(call, who, settings) };
}

/** The same over a connection, which commands come over by themselves. */
export async function heartbeatAlone(call: HeartbeatCall) {
  const who = ownDevice(call);
  const settings = await call.transaction(async (tx) => {
    await record(call, tx, who);
    return settingsOf(tx, who);
  });
  return answerOf(call, who, settings);
}

/** A device that may only uninstall is told of nothing else. */
const settingsOf = async (tx: Tx, who: AgentPrincipal): Promise<AgentSettings> =>
  mayOnlyUninstall(who) ? noSettings : settingsForAgent(tx, { id: who.deviceId });

/** The watchdog's credential cannot speak for the main agent: that would hide that it is silent. */
const asWatchdog = (call: HeartbeatCall, who: AgentPrincipal): boolean =>
  who.credential === "watchdog" || call.body.role === "watchdog";

async function record(call: HeartbeatCall, tx: Tx, who: AgentPrincipal): Promise<void> {
  if (!who.leaving) await (asWatchdog(call, who) ? recordWatchdog(call, tx, who) : recordMain(call, tx, who));
}

const answerOf = (call: HeartbeatCall, who: AgentPrincipal, settings: AgentSettings) => ({
  config: { ...intervals, policies: settings },
  serverTime: call.clock.now(),
  draining: mayOnlyUninstall(who),
  ...(!asWatchdog(call, who) && mustRotate(who, call.clock.now()) ? { rotateToken: true as const } : {}),
  ...ignoredFields(call),
});

/** A draining device cannot rotate its tokens, so it is not asked to. */
function mustRotate(who: AgentPrincipal, now: string): boolean {
  const { tokensIssuedAt } = who.device;
  return !mayOnlyUninstall(who) && tokensIssuedAt !== null && tokensIssuedAt <= after(now, -TOKEN_AGE_MAX_MS);
}
