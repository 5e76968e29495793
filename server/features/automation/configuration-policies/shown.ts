import { featureTypes } from "#contract/core/generated/policy-features";
import { policyLevels } from "#contract/core/policy-words";
import { ownerScopeOf } from "#server/access/owner-rule";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { type Policy, seenAssignments, sightOf } from "./seen.ts";

export const featuresOf = async (db: Reader, policyId: string) =>
  (
    await db
      .selectFrom("configurationPolicyFeatures")
      .select(["id", "type", "settings"])
      .where("policyId", "=", policyId)
      .execute()
  ).toSorted((a, b) => featureTypes.indexOf(a.type) - featureTypes.indexOf(b.type));

/** Those that the caller sees, the closest level first. */
export const assignmentsOf = async (call: Pick<Call, "who">, db: Reader, policyId: string) =>
  (
    await seenAssignments(db, sightOf(call.who))
      .select(["assigned.id", "assigned.level", "assigned.targetId", "assigned.priority", "assigned.roleFilter"])
      .select(["assigned.osFilter", "assigned.assignedBy", "assigned.createdAt"])
      .where("assigned.policyId", "=", policyId)
      .orderBy("assigned.createdAt")
      .orderBy("assigned.id")
      .execute()
  ).toSorted((a, b) => policyLevels.indexOf(a.level) - policyLevels.indexOf(b.level));

/** A policy as the API shows it, as a whole. */
export async function shownPolicy(call: Pick<Call, "who">, db: Reader, policy: Policy) {
  const [features, assignments] = [await featuresOf(db, policy.id), await assignmentsOf(call, db, policy.id)];
  return { ...policy, ownerScope: ownerScopeOf(policy), features, assignments };
}
