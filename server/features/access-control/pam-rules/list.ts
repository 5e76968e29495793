import type { Endpoint } from "#contract/core/endpoint";
import type { pamRules } from "#contract/resources/access-control/pam-rules";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { type Call, user } from "#server/http/call";
import { isTierStale, reachableTiers } from "../core/decision/tool-tiers.ts";

type ListCall = typeof pamRules.list extends Endpoint<infer T> ? Call<T> : never;

/** Rules in the order in which they are asked (docs/privileged-access.md, "Rules"); those of sites out of reach are hidden. */
export async function listRules(call: ListCall) {
  const { orgId } = call.query;
  const isConfined = user(call).allowedSiteIds !== null;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const rules = await call.db
    .selectFrom("pamRules")
    .leftJoin("sites", "sites.id", "pamRules.siteId")
    .leftJoin("signerGroups", "signerGroups.id", "pamRules.matchSignerGroupId")
    .selectAll("pamRules")
    .select(["sites.name as siteName", "signerGroups.name as matchSignerGroupName"])
    .where("pamRules.orgId", "in", orgsInList(orgId))
    .orderBy("pamRules.priority")
    .orderBy("pamRules.createdAt")
    .orderBy("pamRules.id")
    .execute();
  return {
    success: true as const,
    rules: rules.map((rule) => ({
      ...rule,
      // Groups are shown to people of the whole organization alone.
      matchSignerGroupName: isConfined ? null : rule.matchSignerGroupName,
      matchRiskTierStale: isTierStale(rule),
      matchRiskTierValidTiers: reachableTiers(rule),
    })),
  };
}
