import { type AccessibleOrg, getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { filterColumns } from "./queries.ts";

/** A filter that this caller may change, held until the transaction ends; named in the audit entry. */
export async function holdFilter(call: Call, tx: Tx, id: string) {
  const row = tx.selectFrom("savedFilters").select(filterColumns).where("id", "=", id);
  const filter = await held(row, call.services.store.dialect).executeTakeFirst();
  if (!filter) throw problem("NOT_FOUND");
  call.audit.note({ resource: { id, name: filter.name }, owner: { orgId: filter.orgId } });
  refuseSiteRestricted(call);
  const org: AccessibleOrg = await getWritableOrg(call, filter.orgId, tx);
  return { filter, org };
}
