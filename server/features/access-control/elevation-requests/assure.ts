import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { proveAssertion } from "#server/features/access-control/approver-devices/prove-assertion";
import { requireReauth } from "#server/features/access-control/core/reauth";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import type { ShownElevation } from "./queries.ts";
import { CRITICAL, isSubject } from "./rules.ts";
import { type Proven, readStanding, refuseUnderAssured, type Standing } from "./standing.ts";
import { holdsKey } from "./tool-action.ts";

export type RespondCall = typeof elevationRequests.respond extends Endpoint<infer T> ? Call<T> : never;

/**
 * What this approval proves, or why it is refused (docs/elevation-requests.md, "Step-up"). Nobody approves for
 * themselves. An assertion that cannot be verified is refused and never read as none. Whether the level is enough is asked
 * before the person proves who they are, so that no code is spent for nothing. Runs before the transaction.
 */
export async function assure(call: RespondCall, elevation: ShownElevation): Promise<Proven> {
  const { userId } = user(call);
  const ownKey = await call.readAsSystem("decide elevations", (db) => holdsKey(db, elevation, userId));
  if (ownKey || isSubject(elevation, user(call))) throw problem("SELF_APPROVAL");
  const { proof } = call.body;
  const device = proof && (await proveAssertion(call as Call, elevation.id, proof));
  const standing = await call.readAsSystem("decide elevations", (db) =>
    readStanding(db, { elevation, userId, now: call.clock.now() }),
  );
  const proven: Proven = { device, reauthenticated: isReauthenticating(call, standing, device) };
  refuseUnderAssured(standing, { ...proven, reauthenticated: proven.reauthenticated || standing.tier === CRITICAL });
  if (proven.reauthenticated) await requireReauth(call, call.body);
  return proven;
}

/** At the highest tier always; elsewhere where it lifts the approval to the level that is asked for, and was given. */
function isReauthenticating(call: RespondCall, { tier, required }: Standing, device: Proven["device"]): boolean {
  if (tier === CRITICAL) return true;
  const { reauthPassword, reauthMfaCode } = call.body;
  return required === 4 && device !== undefined && (reauthPassword ?? reauthMfaCode) !== undefined;
}
