import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { getWritableOrg } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdGroups } from "./place.ts";
import { getGroup, holdGroup } from "./queries.ts";

type RemoveCall = typeof deviceGroups.remove extends Endpoint<infer T> ? Call<T> : never;

/** Deletes a group with its memberships and their log (docs/device-groups.md, "Deleting a group"). */
export async function removeGroup(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { id, name, orgId, siteId } = await getGroup(call, tx, call.params.id);
    call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds: [siteId] });
    await getWritableOrg(call, orgId, tx);
    const groups = await holdGroups(call, tx, orgId);
    await holdGroup(call, tx, id);
    const groupIds = groups.filter(({ parentId }) => parentId === id).map((child) => child.id);
    if (groupIds.length > 0) throw problem("HAS_CHILDREN", { details: { groupIds } });
    await tx.deleteFrom("deviceGroups").where("id", "=", id).execute();
    return { success: true as const };
  });
}
