import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import { leftMeanwhile } from "#server/features/fleet/devices/hold-device";
import { replaceTokens } from "#server/features/fleet/devices/replace-tokens";
import type { Call } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";
import { ownDevice, refuseDraining } from "./own-device.ts";
import { hashesOf, newTokenPair } from "./tokens.ts";

type RotateCall = typeof agents.rotateToken extends Endpoint<infer T> ? Call<T> : never;

const GRACE_MS = 10 * MINUTE;

/**
 * Replaces both tokens; the previous pair lasts ten more minutes (docs/fleet.md, "Rotating tokens"). A device that lost
 * the answer asks again with its old token: the pair it never received is replaced, and the old one keeps its end. Of
 * two calls at the same moment one gets 409.
 */
export async function rotateToken(call: RotateCall) {
  const who = ownDevice(call);
  refuseDraining(who);
  const pair = newTokenPair(call.random);
  const now = call.clock.now();
  return call.transaction(async (tx) => {
    const before = await tx
      .selectFrom("devices")
      .select(["agentTokenHash", "watchdogTokenHash"])
      .where("id", "=", who.deviceId)
      .executeTakeFirst();
    if (!before) throw leftMeanwhile();
    const retiring = {
      previousAgentTokenHash: before.agentTokenHash,
      previousWatchdogTokenHash: before.watchdogTokenHash,
      previousTokensExpireAt: after(now, GRACE_MS),
    };
    const tokens = { ...hashesOf(pair), ...(who.tokenHash === before.agentTokenHash ? retiring : {}) };
    const known = { id: who.deviceId, agentTokenHash: before.agentTokenHash };
    if (!(await replaceTokens(tx, known, tokens, now))) throw problem("CONCURRENT_MODIFICATION");
    call.audit.note({
      resource: { type: "device", id: who.deviceId, name: who.hostname },
      owner: { orgId: who.orgId },
    });
    return pair;
  });
}
