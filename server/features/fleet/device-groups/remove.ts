import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { getWritableOrg } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { policiesOfGroup } from "#server/features/automation/configuration-policies/unassign";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { noteFields } from "./note-fields.ts";
import { type HeldGroups, holdGroups } from "./place.ts";
import { type Group, getGroup, holdGroup } from "./queries.ts";

type RemoveCall = typeof deviceGroups.remove extends Endpoint<infer T> ? Call<T> : never;

/** Policies that cover it, and groups whose conditions name it; of these the refusal lists what the caller sees. */
async function refuseNamed(tx: Tx, groups: HeldGroups, { id, orgId }: Pick<Group, "id" | "orgId">): Promise<void> {
  const naming = groups.filter(({ filterGroupIds }) => filterGroupIds.includes(id)).map((one) => one.id);
  const policyIds = await policiesOfGroup(tx, { id, orgId });
  if (naming.length + policyIds.length === 0) return;
  const seen =
    naming.length === 0 ? [] : await tx.selectFrom("deviceGroups").select("id").where("id", "in", naming).execute();
  throw problem("IN_USE", { details: { policyIds, filterGroupIds: seen.map((one) => one.id) } });
}

/** Deletes a group with its memberships and their log (docs/device-groups.md, "Deleting a group"). */
export async function removeGroup(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { id, name, orgId, siteId, type } = await getGroup(call, tx, call.params.id);
    call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds: [siteId] });
    await getWritableOrg(call, orgId, tx);
    const groups = await holdGroups(call, tx, orgId);
    await holdGroup(call, tx, id);
    const groupIds = groups.filter(({ parentId }) => parentId === id).map((child) => child.id);
    if (groupIds.length > 0) throw problem("HAS_CHILDREN", { details: { groupIds } });
    await refuseNamed(tx, groups, { id, orgId });
    await tx.deleteFrom("deviceGroups").where("id", "=", id).execute();
    if (type === "dynamic") await call.asSystem("keep device groups", (all) => noteFields(all, orgId));
    return { success: true as const };
  });
}
