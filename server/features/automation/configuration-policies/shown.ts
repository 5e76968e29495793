import type { ExpressionBuilder } from "kysely";
import { featureTypes } from "#contract/core/generated/policy-features";
import { policyLevels } from "#contract/core/policy-words";
import { ownerScopeOf } from "#server/access/owner-rule";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { type Assigned, type Policy, seenAssignments, sightOf } from "./seen.ts";

export const featuresOf = async (db: Reader, policyId: string) =>
  (
    await db
      .selectFrom("configurationPolicyFeatures")
      .select(["id", "type", "settings"])
      .where("policyId", "=", policyId)
      .execute()
  ).toSorted((a, b) => featureTypes.indexOf(a.type) - featureTypes.indexOf(b.type));

/** What people call a target, in the caller's own scope. */
function targetName(eb: ExpressionBuilder<Assigned, "assigned">) {
  const device = eb
    .selectFrom("devices")
    .select((of) => of.fn.coalesce("devices.displayName", "devices.hostname").as("name"));
  const [group, site] = [eb.selectFrom("deviceGroups").select("name"), eb.selectFrom("sites").select("name")];
  const [org, partner] = [eb.selectFrom("organizations").select("name"), eb.selectFrom("partners").select("name")];
  return eb.fn.coalesce(
    device.whereRef("devices.id", "=", "assigned.targetId"),
    group.whereRef("deviceGroups.id", "=", "assigned.targetId"),
    site.whereRef("sites.id", "=", "assigned.targetId"),
    org.whereRef("organizations.id", "=", "assigned.targetId"),
    partner.whereRef("partners.id", "=", "assigned.targetId"),
  );
}

/** Those that the caller sees, the closest level first. */
export const assignmentsOf = async (call: Pick<Call, "who">, db: Reader, policyId: string) =>
  (
    await seenAssignments(db, sightOf(call.who))
      .select(["assigned.id", "assigned.level", "assigned.targetId", "assigned.priority", "assigned.roleFilter"])
      .select(["assigned.osFilter", "assigned.assignedBy", "assigned.createdAt"])
      .select((eb) => targetName(eb).as("targetName"))
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
