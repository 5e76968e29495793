import { attempt } from "#server/db/attempt";
import type { Tx } from "#server/db/unit-of-work";
import { type Deciding, STARTS_MAX, stillStands } from "./decide-report.ts";
import { decideToolAction, type ToolAction, type ToolDecision } from "./decide-tool-action.ts";
import { pendingBecause } from "./decision.ts";

/**
 * Decides the call of a tool in the transaction that stores it or runs it (docs/privileged-access.md, "Risk tiers"), and
 * never throws: whatever goes wrong is left to people. The handle must see the whole organization.
 */
export async function decideCall(tx: Tx, action: ToolAction, deciding: Pick<Deciding, "store" | "log">) {
  const tried = await attempt(tx, () => decideOnce(tx, action, deciding));
  if ("done" in tried) return tried.done;
  deciding.log.error("pam.evaluation_failed", { error: tried.error });
  return pendingBecause("evaluation_failed");
}

async function decideOnce(tx: Tx, action: ToolAction, { store }: Pick<Deciding, "store">): Promise<ToolDecision> {
  for (let start = 0; start < STARTS_MAX; start += 1) {
    const { orgId } = action.candidate;
    const config = await tx.selectFrom("pamConfigs").selectAll().where("orgId", "=", orgId).executeTakeFirst();
    const enabled = tx.selectFrom("pamRules").selectAll().where("orgId", "=", orgId).where("enabled", "=", true);
    const rules = await enabled.execute();
    const decision = decideToolAction(
      { rules, defaultUnmatchedVerdict: config?.defaultUnmatchedVerdict ?? "require_approval" },
      action,
    );
    const matched = decision.verdict === "runs" ? undefined : rules.find(({ id }) => id === decision.pamRuleId);
    if (!matched || (await stillStands(tx, matched, new Map(), store))) return decision;
  }
  return pendingBecause("rules_changed");
}
