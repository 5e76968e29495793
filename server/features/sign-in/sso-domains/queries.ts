import type { Selectable } from "kysely";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import type { SsoDomainsTable } from "#server/db/tables/sign-in";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { recordName, recordValue } from "./rules.ts";

export type DomainRow = Selectable<SsoDomainsTable>;

/** The domain when this caller may change it, named in the audit entry. NOT_FOUND, also for another tenant's. */
export async function writableDomain(call: Call, id: string, db: Reader): Promise<DomainRow> {
  refuseSiteRestricted(call);
  const row = await db.selectFrom("ssoDomains").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  call.audit.note({ resource: { id, name: row.domain }, owner: { orgId: row.orgId } });
  await getWritableOrg(call, row.orgId, db);
  return row;
}

export function shownDomain(row: DomainRow) {
  const { id, orgId, domain, verifiedAt, lastCheckedAt, createdAt } = row;
  return {
    id,
    orgId,
    domain,
    verified: verifiedAt !== null,
    verifiedAt,
    lastCheckedAt,
    recordName: recordName(domain),
    recordValue: recordValue(row.verificationToken),
    createdAt,
  };
}
