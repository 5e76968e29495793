import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { getWritableOrg, orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { fieldsLock } from "#server/features/fleet/devices/custom-values";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { type Field, getField } from "./queries.ts";

type CreateCall = typeof customFields.create extends Endpoint<infer T> ? Call<T> : never;

/** Whose a new field is, and the partner it is unique in. */
export interface Owner {
  readonly orgId: string | null;
  readonly partnerId: string;
}

/** Decides whose the new field is (docs/conventions.md, "Owner rule"), and holds that partner's fields. */
export async function ownerForCreate(call: CreateCall, tx: Tx): Promise<Owner> {
  refuseSiteRestricted(call);
  const owner = await chosenOwner(call, tx);
  call.audit.note({ owner: owner.orgId === null ? { partnerId: owner.partnerId } : { orgId: owner.orgId } });
  await lockText(tx, call.services.store.dialect, fieldsLock(owner.partnerId));
  return owner;
}

async function chosenOwner(call: CreateCall, tx: Tx): Promise<Owner> {
  const { ownerScope, orgId, partnerId } = call.body;
  const who = user(call);
  if (partnerId !== undefined && who.scope !== "system" && partnerId !== who.partnerId)
    throw problem("PARTNER_ACCESS_DENIED");
  if (ownerScope === "organization") {
    const org = await orgForCreate(call, orgId, tx);
    return { orgId: org.id, partnerId: org.partnerId };
  }
  refusePartial(call);
  const id = who.partnerId ?? partnerId;
  if (id === undefined) throw problem("PARTNER_ID_REQUIRED");
  if (who.scope === "system" && !(await tx.selectFrom("partners").select("id").where("id", "=", id).executeTakeFirst()))
    throw problem("PARTNER_ACCESS_DENIED");
  return { orgId: null, partnerId: id };
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

/** What belongs to the whole partner takes full partner access (docs/conventions.md, "Full partner access"). */
function refusePartial(call: Call): void {
  const { scope, orgAccess } = user(call);
  if (scope === "organization" || (scope === "partner" && orgAccess !== "all"))
    throw problem("FULL_PARTNER_ACCESS_REQUIRED");
}
