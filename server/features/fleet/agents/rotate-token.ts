import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import { rateLimited } from "#server/access/attempts";
import type { Limit } from "#server/access/rate-limit";
import { writeCredentials } from "#server/access/write-credentials";
import { leftMeanwhile } from "#server/features/fleet/devices/hold-device";
import { replaceTokens } from "#server/features/fleet/devices/replace-tokens";
import type { Call } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";
import { ownDevice, refuseDraining } from "./own-device.ts";
import { rememberReplaced } from "./replaced-tokens.ts";
import { noteSourceIp } from "./source-ip.ts";
import { hashesOf, newTokenPair } from "./tokens.ts";

type RotateCall = typeof agents.rotateToken extends Endpoint<infer T> ? Call<T> : never;

const GRACE_MS = 10 * MINUTE;

/** Rotations of a device; one that fails costs nothing. */
export const rotations: Limit = { name: "agent-rotate", max: 6, windowSeconds: 3_600 };

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
    await noteSourceIp(call, tx, who);
    // After that look: of two at the same moment the one that waits here finds what it read replaced.
    const allowance = await call.asSystem("rate limit", (all) =>
      call.services.limiter.takeWithin(all, rotations, who.deviceId),
    );
    if (!allowance.allowed) throw rateLimited(call.services, allowance.resetAtMs);
    const retiring = {
      previousAgentTokenHash: before.agentTokenHash,
      previousWatchdogTokenHash: before.watchdogTokenHash,
      previousTokensExpireAt: after(now, GRACE_MS),
    };
    const tokens = { ...hashesOf(pair), ...(who.tokenHash === before.agentTokenHash ? retiring : {}) };
    const device = { id: who.deviceId, orgId: who.orgId };
    const known = { ...device, agentTokenHash: before.agentTokenHash };
    await writeCredentials(call, async (all) => {
      if (!(await replaceTokens(all, known, tokens, now))) throw problem("CONCURRENT_MODIFICATION");
      await rememberReplaced(all, device, before, now);
    });
    call.audit.note({
      resource: { type: "device", id: who.deviceId, name: who.hostname },
      owner: { orgId: who.orgId },
    });
    return pair;
  });
}
