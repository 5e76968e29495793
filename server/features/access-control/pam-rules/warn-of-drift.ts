import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";
import { isTierStale, reachableTiers } from "../core/decision/tool-tiers.ts";

/** Rules that one line of the log names. */
const NAMED_MAX = 20;

/**
 * Says once, when the server starts, which enabled rules name a tier that their tool never has, so that they match nothing
 * (docs/privileged-access.md, "Risk tiers").
 */
export async function warnOfDrift(services: Pick<Services, "store" | "log">): Promise<void> {
  const rules = await asSystem(services, "look for stale rules")
    .selectFrom("pamRules")
    .select(["id", "orgId", "matchToolName", "matchRiskTier", "matchNegate"])
    .where("enabled", "=", true)
    .where("matchRiskTier", "is not", null)
    .execute();
  const stale = rules.filter(isTierStale);
  if (stale.length === 0) return;
  services.log.warn("pam-rule-tier-drift", { rules: stale.length });
  services.log.error("pam_rule_risk_tier_unreachable", {
    rules: stale.slice(0, NAMED_MAX).map((rule) => ({
      ...{ id: rule.id, orgId: rule.orgId, matchRiskTier: rule.matchRiskTier },
      validTiers: reachableTiers(rule),
    })),
  });
}
