import type { AccessibleOrg } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { decideExpiry, ttlCapMinutes } from "./rules.ts";

/** The end of a key's life for this organization, or the answer that refuses it. */
export function expiryFor(
  call: Pick<Call, "clock" | "config">,
  org: AccessibleOrg,
  expiresAt: string | undefined,
  /** A further cap in minutes, where the caller has one (docs/credentials.md, "End of an enrollment key"). */
  cap?: number,
): string {
  const decision = decideExpiry({
    nowMs: call.clock.nowMs(),
    expiresAt,
    defaultTtlMinutes: call.config.enrollmentKeyTtlMinutes,
    capMinutes: smaller(ttlCapMinutes(org.settings), cap),
  });
  if ("expiresAt" in decision) return decision.expiresAt;
  if (decision.refused === "past") throw invalid({ path: "expiresAt", message: "expiresAt: must be in the future" });
  throw problem("TTL_EXCEEDS_CAP", { details: { maxTtlMinutes: decision.maxTtlMinutes } });
}

const smaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
