import type { Reader, Tx } from "#server/db/unit-of-work";

type Target = { readonly orgId: string } & ({ readonly deviceId: string } | { readonly siteId: string });

/** A target that goes is covered by nothing any more (docs/configuration-policies.md, "Targets that go"); answers by how many. */
export async function unassign(tx: Tx, target: Target): Promise<number> {
  const ofOrg = tx.deleteFrom("configurationPolicyAssignments").where("orgId", "=", target.orgId);
  const gone = await ("deviceId" in target
    ? ofOrg.where("deviceId", "=", target.deviceId)
    : ofOrg.where("siteId", "=", target.siteId)
  ).executeTakeFirst();
  return Number(gone.numDeletedRows);
}

/** Policies that are assigned to a group and may hold again: archived ones are over. */
export async function policiesOfGroup(db: Reader, group: { readonly id: string; readonly orgId: string }) {
  const rows = await db
    .selectFrom("configurationPolicyAssignments as assigned")
    .innerJoin("configurationPolicies as policy", "policy.id", "assigned.policyId")
    .select("policy.id")
    .where("assigned.orgId", "=", group.orgId)
    .where("assigned.groupId", "=", group.id)
    .where("policy.status", "<>", "archived")
    .orderBy("policy.id")
    .execute();
  return rows.map(({ id }) => id);
}
