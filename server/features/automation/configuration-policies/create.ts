import type { Endpoint } from "#contract/core/endpoint";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import { type Owner, ownerColumns, ownerForCreate } from "#server/access/owner-rule";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { refuseUnpermitted } from "./judge.ts";
import { placed } from "./place.ts";
import { getPolicy } from "./seen.ts";
import { shownPolicy } from "./shown.ts";
import { storeAssignments, storeFeatures } from "./store.ts";

type CreateCall = typeof configurationPolicies.create extends Endpoint<infer T> ? Call<T> : never;

/** Policies of one owner (docs/configuration-policies.md, "Policies"). */
export const POLICIES_MAX = 500;

/** Makes a policy of an organization, or of a whole partner (docs/configuration-policies.md, "Writing"). */
export async function createPolicy(call: CreateCall) {
  const { name, description, status, features, assignments } = call.body;
  return call.transaction(async (tx) => {
    const owner = await ownerForCreate(call, call.body, tx);
    const policyId = call.random.uuid();
    call.audit.note({ resource: { id: policyId, name }, owner: ownerColumns(owner) });
    refuseUnpermitted(
      call,
      features.map(({ type }) => type),
    );
    const covers = await placed(call, tx, owner, { features, assignments });
    await refuseOverLimit(call, tx, owner);
    const now = call.clock.now();
    const { userId: createdBy } = user(call);
    await tx
      .insertInto("configurationPolicies")
      .values({
        ...{ id: policyId, ...ownerColumns(owner), name, description, status, version: 1 },
        ...{ createdBy, createdAt: now, updatedAt: now },
      })
      .execute();
    await storeFeatures(call, tx, { policyId, owner }, features);
    await storeAssignments(call, tx, { policyId, owner }, covers);
    const featureTypes = features.map(({ type }) => type);
    call.audit.note({ details: { status, featureTypes, assignments: covers.length } });
    return shownPolicy(call, tx, await getPolicy(call, tx, policyId));
  });
}

/** Policies of one owner are made one after the other, so that none slips past the limit. */
async function refuseOverLimit({ services }: Pick<Call, "services">, tx: Tx, owner: Owner): Promise<void> {
  await lockText(tx, services.store.dialect, `configuration policies of ${owner.orgId ?? owner.partnerId}`);
  const all = tx.selectFrom("configurationPolicies").select((eb) => eb.fn.countAll<number>().as("count"));
  const own =
    owner.orgId === null ? all.where("partnerId", "=", owner.partnerId) : all.where("orgId", "=", owner.orgId);
  const { count } = await own.executeTakeFirstOrThrow();
  if (Number(count) >= POLICIES_MAX) throw problem("LIMIT_REACHED", { details: { max: POLICIES_MAX } });
}
