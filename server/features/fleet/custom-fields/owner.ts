import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { type Owner, ownerForCreate, refusePartial } from "#server/access/owner-rule";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { fieldsLock } from "#server/features/fleet/devices/custom-values";
import type { Call } from "#server/http/call";
import { type Field, getField } from "./queries.ts";

type CreateCall = typeof customFields.create extends Endpoint<infer T> ? Call<T> : never;

/** Decides whose the new field is (docs/conventions.md, "Owner rule"), and holds that partner's fields. */
export async function ownerOfNew(call: CreateCall, tx: Tx): Promise<Owner> {
  const owner = await ownerForCreate(call, call.body, tx);
  call.audit.note({ owner: owner.orgId === null ? { partnerId: owner.partnerId } : { orgId: owner.orgId } });
  await lockText(tx, call.services.store.dialect, fieldsLock(owner.partnerId));
  return owner;
}

/** The field, if this caller may change it; named in the audit entry, under the lock of its partner's fields. */
export async function writableField(call: Call, tx: Tx, id: string): Promise<Field & { ownerId: string }> {
  const found = await getField(tx, id);
  const { orgId, partnerId, name } = found;
  call.audit.note({ resource: { id, name }, owner: orgId === null ? { partnerId } : { orgId } });
  refuseSiteRestricted(call);
  if (orgId === null) refusePartial(call);
  const ownerId = orgId === null ? (partnerId as string) : (await getWritableOrg(call, orgId, tx)).partnerId;
  await lockText(tx, call.services.store.dialect, fieldsLock(ownerId));
  return { ...(await getField(tx, id)), ownerId };
}
