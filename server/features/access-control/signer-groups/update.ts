import type { Endpoint } from "#contract/core/endpoint";
import type { signerGroups } from "#contract/resources/access-control/signer-groups";
import { holds } from "#server/access/principal";
import { changedFields } from "#server/audit/changed-fields";
import { isUniqueViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { distinct, holdSignerGroup, keyOfName, rulesNaming, shownSignerGroup } from "./queries.ts";

type UpdateCall = typeof signerGroups.update extends Endpoint<infer T> ? Call<T> : never;

/** Omitted fields keep their values (docs/privileged-access.md, "Signer groups"). */
export async function updateSignerGroup(call: UpdateCall) {
  return call.transaction(async (tx) => {
    const before = await holdSignerGroup(call as Call, tx, call.params.id);
    const { name, description } = call.body;
    const signers = call.body.signers && distinct(call.body.signers);
    if (Object.values(call.body).every((value) => value === undefined)) throw problem("NO_UPDATES");
    if (signers) await refuseWithoutPolicy(call as Call, tx, before);
    const change = {
      ...(name === undefined ? {} : { name, nameKey: keyOfName(name) }),
      ...(description === undefined ? {} : { description }),
      ...(signers === undefined ? {} : { signers }),
    };
    call.audit.note({ details: { changedFields: changedFields(before, { name, description, signers }) } });
    try {
      await call.asSystem("write rules of elevations", (all) => {
        const changed = all.updateTable("signerGroups").set({ ...change, updatedAt: call.clock.now() });
        return changed.where("id", "=", before.id).where("orgId", "=", before.orgId).execute();
      });
    } catch (error) {
      throw isUniqueViolation(error) ? taken("NAME_TAKEN", name ?? before.name, error) : error;
    }
    return { success: true as const, signerGroup: await shownSignerGroup(tx, before.id) };
  });
}

/** Who is in a group that rules name decides what these rules approve. */
async function refuseWithoutPolicy(call: Call, tx: Tx, group: { id: string; orgId: string }): Promise<void> {
  const rules = await rulesNaming(tx, group);
  if (rules.length === 0) return;
  call.audit.note({ details: { rules } });
  const required = "pam:manage_policy";
  if (!holds(user(call), required)) throw problem("PERMISSION_DENIED", { details: { required } });
}
