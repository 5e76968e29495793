import type { Reader } from "#server/db/unit-of-work";
import { type ExportCall, exportPage } from "./export.ts";
import { type FeedEntry, idsOf } from "./feed.ts";

export const exportPolicies = (call: ExportCall) => exportPage(call, "configuration-policies", policiesOf);

export const exportAssignments = (call: ExportCall) => exportPage(call, "configuration-assignments", assignmentsOf);

async function policiesOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await db
    .selectFrom("configurationPolicies")
    .select(["id", "orgId", "name", "description", "status"])
    .where("id", "in", idsOf(entries))
    .execute();
  const features = await db
    .selectFrom("configurationPolicyFeatures")
    .select(["policyId", "id", "type", "settings"])
    .where("policyId", "in", idsOf(entries))
    .orderBy("type")
    .execute();
  return new Map(
    rows.map((row) => {
      const own = features.filter(({ policyId }) => policyId === row.id).map(({ policyId: _, ...feature }) => feature);
      return [row.id, { ...row, features: own }];
    }),
  );
}

async function assignmentsOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await db
    .selectFrom("configurationPolicyAssignments as assigned")
    .innerJoin("configurationPolicies as policy", "policy.id", "assigned.policyId")
    .select(["assigned.id", "assigned.orgId", "assigned.policyId", "policy.name as policyName", "assigned.level"])
    .select(["assigned.targetId", "assigned.priority", "assigned.roleFilter", "assigned.osFilter"])
    .where("assigned.id", "in", idsOf(entries))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
