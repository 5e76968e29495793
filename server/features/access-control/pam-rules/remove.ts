import type { Endpoint } from "#contract/core/endpoint";
import type { pamRules } from "#contract/resources/access-control/pam-rules";
import type { Call } from "#server/http/call";
import { holdRule } from "./place.ts";

type RemoveCall = typeof pamRules.remove extends Endpoint<infer T> ? Call<T> : never;

/** Requests that it decided keep its id and name. */
export async function removeRule(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { id, orgId } = await holdRule(call as Call, tx, call.params.id);
    await call.asSystem("write rules of elevations", (all) =>
      all.deleteFrom("pamRules").where("id", "=", id).where("orgId", "=", orgId).execute(),
    );
    return { success: true as const };
  });
}
