import type { Endpoint } from "#contract/core/endpoint";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdPolicy } from "./hold.ts";
import { getPolicy } from "./seen.ts";
import { shownPolicy } from "./shown.ts";

type DeactivateCall = typeof configurationPolicies.deactivate extends Endpoint<infer T> ? Call<T> : never;

/** From its commit on what is less close holds; agents are told with the next answer. */
export async function deactivatePolicy(call: DeactivateCall) {
  return call.transaction(async (tx) => {
    const { before } = await holdPolicy(call, tx, { id: call.params.id });
    const { id, status, version } = before;
    if (status !== "active") throw problem("INVALID_STATE", { details: { status } });
    await tx
      .updateTable("configurationPolicies")
      .set({ status: "inactive", version: version + 1, updatedAt: call.clock.now() })
      .where("id", "=", id)
      .execute();
    return shownPolicy(call, tx, await getPolicy(call, tx, id));
  });
}
