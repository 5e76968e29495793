import { tierNames } from "#contract/core/authenticator";
import type { Limit } from "#server/access/rate-limit";
import type { AuthenticatorPoliciesTable } from "#server/db/tables/approver-devices";
import { after, DAY, MINUTE, SECOND } from "#server/platform/clock";

export const DEVICES_MAX = 10;
export const REGISTRATION_MS = 5 * MINUTE;
export const ASSERTION_MS = 120 * SECOND;
/** How far ahead a partner may put the day from which it demands. */
const AHEAD_MS = 90 * DAY;

/** Per user. */
export const challengeLimit: Limit = { name: "assertion-challenge", max: 30, windowSeconds: 60 };

/** EdDSA, ES256 and RS256, as COSE numbers them. */
export const algorithms = [-8, -7, -257] as const;

type Floors = AuthenticatorPoliciesTable["floorOverrides"];
export type Policy = Pick<AuthenticatorPoliciesTable, "floorOverrides" | "requireEnrollment" | "enforceFrom">;

export const noPolicy: Policy = { floorOverrides: {}, requireEnrollment: false, enforceFrom: null };

/** Of a request without a tier, and of tier 0. */
const MEDIUM = 2;

/** The level that an approval at a tier should reach (docs/elevation-requests.md, "Step-up"). */
export function requiredLevel(riskTier: number | null, { floorOverrides }: Pick<Policy, "floorOverrides">): number {
  const tier = riskTier || MEDIUM;
  const name = tierNames[tier - 1];
  return Math.max(tier, (name && floorOverrides[name]) ?? 0);
}

/** Whether approvals below their level are refused by now. */
export const isEnforcing = ({ requireEnrollment, enforceFrom }: Policy, now: string): boolean =>
  requireEnrollment && (enforceFrom === null || enforceFrom <= now);

/** A tier whose floor the change would put below what holds: the usual one, and while it is enforced the stored one. */
export function loweredTier(stored: Policy, floors: Floors, now: string): string | undefined {
  const holding = isEnforcing(stored, now) ? stored : noPolicy;
  return tierNames.find((name, index) => {
    const given = floors[name];
    const floor = requiredLevel(index + 1, holding);
    return given === undefined ? floor > index + 1 : given < floor;
  });
}

/** What is wrong with a day from which to demand, if anything. */
export function misdated(stored: Policy, enforceFrom: string | null, now: string): string | undefined {
  if (enforceFrom === null || enforceFrom <= now) return undefined;
  if (isEnforcing(stored, now)) return "must not be put into the future: it is demanded already";
  return enforceFrom > after(now, AHEAD_MS) ? "must lie within 90 days" : undefined;
}
