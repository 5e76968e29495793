import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import type { ShownElevation } from "./queries.ts";
import { requireReauth } from "./reauth.ts";
import { tierOnDevice } from "./risk-of-device.ts";
import { CRITICAL, isSubject, requiredLevel } from "./rules.ts";
import { holdsKey } from "./tool-action.ts";

export type RespondCall = typeof elevationRequests.respond extends Endpoint<infer T> ? Call<T> : never;

/** What an approver has proven. */
export interface Assurance {
  readonly level: number;
  readonly via: "session_tap" | "webauthn_platform";
  readonly reauthenticated: boolean;
}

/**
 * What this approval proves, or why it is refused (docs/elevation-requests.md, "Step-up"). Nobody approves for
 * themselves. An assertion that nobody can verify is refused and never read as none. Runs before the transaction.
 */
export async function assure(call: RespondCall, elevation: ShownElevation): Promise<Assurance> {
  const { userId } = user(call);
  const ownKey = await call.readAsSystem("decide elevations", (db) => holdsKey(db, elevation, userId));
  if (ownKey || isSubject(elevation, user(call))) throw problem("SELF_APPROVAL");
  // There are no approver devices to have signed one.
  if (call.body.proof !== undefined) throw problem("ASSERTION_FAILED");
  const tier = await call.readAsSystem("decide elevations", (db) => tierToday(db, elevation, call.clock.now()));
  if (tier === CRITICAL) await requireReauth(call, call.body);
  return { level: 1, via: "session_tap", reauthenticated: tier === CRITICAL };
}

/** As it was asked, or higher where the device has become a server since. */
export async function tierToday(
  db: Reader,
  { flowType, riskTier, deviceId, orgId }: Pick<ShownElevation, "flowType" | "riskTier" | "deviceId" | "orgId">,
  now: string,
): Promise<number | null> {
  if (flowType !== "tech_jit_admin" || deviceId === null) return riskTier;
  const device = await db
    .selectFrom("devices")
    .select(["id", "deviceRole", "osVersion"])
    .where("id", "=", deviceId)
    .where("orgId", "=", orgId)
    .executeTakeFirst();
  return device ? Math.max(riskTier ?? 0, await tierOnDevice(db, device, now)) : riskTier;
}

/** Approved with less than the tier asks for, which nobody enforces. */
export const isGrace = (tier: number | null, { level }: Assurance): boolean => level < requiredLevel(tier);
