import type { Endpoint } from "#contract/core/endpoint";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import { changedFields } from "#server/audit/changed-fields";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdPolicy } from "./hold.ts";
import { placed } from "./place.ts";
import { getPolicy } from "./seen.ts";
import { shownPolicy } from "./shown.ts";
import { storeAssignments, storeFeatures } from "./store.ts";

type UpdateCall = typeof configurationPolicies.update extends Endpoint<infer T> ? Call<T> : never;
type ReplaceCall = typeof configurationPolicies.replace extends Endpoint<infer T> ? Call<T> : never;

/** What is left out keeps its value; features and assignments are replaced as a whole. */
export async function updatePolicy(call: UpdateCall) {
  const { version: _, ...change } = call.body;
  if (Object.values(change).every((value) => value === undefined)) throw problem("NO_UPDATES");
  return changePolicy(call, call.body);
}

/** The body is all that the policy says from now on. */
export const replacePolicy = (call: ReplaceCall) => changePolicy(call, call.body);

/** One change of a policy, which is one version more (docs/configuration-policies.md, "Writing"). */
async function changePolicy(call: UpdateCall | ReplaceCall, { version, ...change }: UpdateCall["body"]) {
  return call.transaction(async (tx) => {
    const gets = (change.features ?? []).map(({ type }) => type);
    const { before, owner } = await holdPolicy(call as Call, tx, { id: call.params.id, gets });
    if (version !== undefined && version !== before.version)
      throw problem("CONCURRENT_MODIFICATION", { details: { version: before.version } });
    const { features = before.features, assignments, ...fields } = change;
    const covers = await placed(call, tx, owner, { features, assignments: assignments ?? before.assignments });
    const at = { policyId: before.id, owner };
    const changed = [
      ...changedFields(before, fields),
      ...((await storeFeatures(call, tx, at, features)) ? ["features"] : []),
      ...((await storeAssignments(call, tx, at, covers)) ? ["assignments"] : []),
    ];
    await tx
      .updateTable("configurationPolicies")
      .set({ ...fields, version: before.version + 1, updatedAt: call.clock.now() })
      .where("id", "=", before.id)
      .execute();
    call.audit.note({ details: { changedFields: changed, version: before.version + 1 } });
    return shownPolicy(call, tx, await getPolicy(call, tx, before.id));
  });
}
