import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import {
  type Claim,
  claimCommands,
  handedOut,
  hasWaiting,
} from "#server/features/fleet/device-commands/claim-commands";
import { deviceTopic } from "#server/features/fleet/device-commands/signals";
import type { Call } from "#server/http/call";
import { SECOND } from "#server/platform/clock";
import { mayOnlyUninstall, ownDevice } from "./own-device.ts";
import { noteSourceIp } from "./source-ip.ts";

type ClaimCall = typeof agents.claim extends Endpoint<infer T> ? Call<T> : never;

/** A signal may be lost: whoever waits looks at least this often. */
const LOOK_EVERY_MS = 2 * SECOND;

/** Hands out waiting commands; with `wait` the answer comes when there are some (docs/fleet.md, "Claiming commands"). */
export async function claim(call: ClaimCall) {
  const who = ownDevice(call);
  const { signals } = call.services.store;
  const waitMs = Math.min(call.query.wait, call.config.agentPollMaxSeconds) * SECOND;
  const began = performance.now();
  for (;;) {
    const commands = await claimWaiting(call, who);
    const left = waitMs - (performance.now() - began);
    if (commands.length > 0 || left <= 0 || signals.closed || call.gone.aborted)
      return { commands: commands.map(handedOut) };
    await signals.heard(deviceTopic(who.deviceId), Math.min(left, LOOK_EVERY_MS), call.gone);
    // What is claimed for a caller who has gone would never run.
    if (call.gone.aborted) return { commands: [] };
  }
}

/** Looks whether there is any, before it claims. */
export async function claimWaiting(call: Call, who: AgentPrincipal): Promise<Claim[]> {
  if (!(await hasWaiting(call.db, call.clock.now(), who.deviceId, who.credential))) return [];
  return call.transaction(async (tx) => {
    await noteSourceIp(call, tx, who);
    return claimFor(call, tx, who);
  });
}

/** What this credential may claim. */
export async function claimFor(call: Call, tx: Tx, who: AgentPrincipal): Promise<Claim[]> {
  const { deviceId, credential: role } = who;
  const commands = await claimCommands(tx, call.services, { deviceId, role, uninstallOnly: mayOnlyUninstall(who) });
  for (const { type } of commands)
    await call.services.hooks.onCommandSent({ tx, deviceId, type, now: call.clock.now() });
  return commands;
}
