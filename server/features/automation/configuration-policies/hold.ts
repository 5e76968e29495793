import type { FeatureType } from "#contract/core/generated/policy-features";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { type Owner, refusePartial } from "#server/access/owner-rule";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { refuseUnpermitted } from "./judge.ts";
import { getPolicy, type Policy } from "./seen.ts";
import { shownPolicy } from "./shown.ts";

export interface HeldPolicy {
  readonly before: Awaited<ReturnType<typeof shownPolicy>>;
  readonly owner: Owner;
}

/**
 * A policy that this caller may change, with the types that it gets, held until the transaction ends; named in the audit
 * entry (docs/configuration-policies.md, "Writing").
 */
export async function holdPolicy(
  call: Call,
  tx: Tx,
  { id, gets = [] }: { readonly id: string; readonly gets?: readonly FeatureType[] },
): Promise<HeldPolicy> {
  const found = await getPolicy(call, tx, id);
  const { orgId, partnerId, name } = found;
  call.audit.note({ resource: { id, name }, owner: { orgId, partnerId } });
  refuseSiteRestricted(call);
  const owner = { orgId, partnerId: partnerId ?? (await organizationOf(call, tx, found)) };
  if (orgId === null) refusePartial(call);
  // Only from here on: what a caller may not change, the database does not hold for it.
  await held(
    tx.selectFrom("configurationPolicies").select("id").where("id", "=", id),
    call.services.store.dialect,
  ).execute();
  const before = await shownPolicy(call, tx, await getPolicy(call, tx, id));
  refuseUnpermitted(call, [...before.features.map(({ type }) => type), ...gets]);
  return { before, owner };
}

const organizationOf = async (call: Call, tx: Tx, { orgId }: Policy): Promise<string> =>
  (await getWritableOrg(call, orgId as string, tx)).partnerId;
