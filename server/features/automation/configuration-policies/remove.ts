import type { Endpoint } from "#contract/core/endpoint";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import type { Call } from "#server/http/call";
import { holdPolicy } from "./hold.ts";

type RemoveCall = typeof configurationPolicies.remove extends Endpoint<infer T> ? Call<T> : never;

/** Deletes a policy; the database deletes what it carries and covers with it. */
export async function removePolicy(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { before } = await holdPolicy(call, tx, { id: call.params.id });
    await tx.deleteFrom("configurationPolicies").where("id", "=", before.id).execute();
    const featureTypes = before.features.map(({ type }) => type);
    call.audit.note({ details: { status: before.status, featureTypes, assignments: before.assignments.length } });
    return { success: true as const };
  });
}
