import type { Endpoint } from "#contract/core/endpoint";
import type { signerGroups } from "#contract/resources/access-control/signer-groups";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdSignerGroup, rulesNaming } from "./queries.ts";

type RemoveCall = typeof signerGroups.remove extends Endpoint<infer T> ? Call<T> : never;

/** A group that rules name stays: without it they would mean something else. */
export async function removeSignerGroup(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const group = await holdSignerGroup(call as Call, tx, call.params.id);
    const ruleCount = (await rulesNaming(tx, group)).length;
    if (ruleCount > 0) throw problem("IN_USE", { details: { ruleCount } });
    await call.asSystem("write rules of elevations", (all) =>
      all.deleteFrom("signerGroups").where("id", "=", group.id).where("orgId", "=", group.orgId).execute(),
    );
    return { success: true as const };
  });
}
