import type { Endpoint } from "#contract/core/endpoint";
import type { sites } from "#contract/resources/tenancy/sites";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { insertSite } from "./insert-site.ts";
import { getSite } from "./queries.ts";

type CreateCall = typeof sites.create extends Endpoint<infer T> ? Call<T> : never;

/** Callers confined to sites cannot create one (docs/conventions.md, "Site rule"). */
export async function createSite(call: CreateCall) {
  refuseSiteRestricted(call);
  const { orgId, ...fields } = call.body;
  return call.transaction(async (tx) => {
    const org = await orgForCreate(call, orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name: fields.name }, owner: { orgId: org.id }, siteIds: [id] });
    await insertSite(call, tx, { id, orgId: org.id, ...fields });
    call.audit.note({ details: { timezone: fields.timezone } });
    return getSite(call, tx, id);
  });
}
