import type { AccessibleOrg } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { decideExpiry, ttlCapMinutes } from "./rules.ts";

/** The end of a key's life for this organization, or the answer that refuses it. */
export function expiryFor(
  call: Pick<Call, "clock" | "config">,
  org: AccessibleOrg,
  expiresAt: string | undefined,
): string {
  const decision = decideExpiry({
    nowMs: call.clock.nowMs(),
    expiresAt,
    defaultTtlMinutes: call.config.enrollmentKeyTtlMinutes,
    capMinutes: ttlCapMinutes(org.settings),
  });
  if ("expiresAt" in decision) return decision.expiresAt;
  if (decision.refused === "past") throw invalid({ path: "expiresAt", message: "expiresAt: must be in the future" });
  throw problem("TTL_EXCEEDS_CAP", { details: { maxTtlMinutes: decision.maxTtlMinutes } });
}
