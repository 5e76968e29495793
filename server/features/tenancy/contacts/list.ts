import type { Endpoint } from "#contract/core/endpoint";
import type { contacts } from "#contract/resources/tenancy/contacts";
import { findOrg } from "#server/access/org-access";
import { withSiteNames } from "#server/access/place-names";
import { hasElement } from "#server/db/dialect/json";
import { fold } from "#server/db/dialect/text";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { contactColumns, view } from "./queries.ts";

type ListCall = typeof contacts.list extends Endpoint<infer T> ? Call<T> : never;

/** Primary contacts first, then by name without regard to case, nameless ones last (docs/tenancy.md, "Contacts"). */
export async function listContacts(call: ListCall) {
  const org = await findOrg(call, call.params.id);
  if (!org) throw problem("NOT_FOUND");
  const { siteId, role } = call.query;
  let query = call.db.selectFrom("contacts").select(contactColumns).where("contacts.orgId", "=", org.id);
  if (siteId === "none") query = query.where("contacts.siteId", "is", null);
  else if (siteId !== undefined) {
    await refuseUnknownSite(call, org.id, siteId);
    query = query.where("contacts.siteId", "=", siteId);
  }
  if (role !== undefined) {
    query = query.where((eb) => hasElement(eb.ref("contacts.roles"), role, call.services.store.dialect));
  }
  const page = await paginate(
    query
      .orderBy("contacts.isPrimary", "desc")
      .orderBy(
        (eb) => fold(eb.ref("contacts.name")),
        (order) => order.asc().nullsLast(),
      )
      .orderBy("contacts.id"),
    call.query,
  );
  return { ...page, data: await withSiteNames(call.db, page.data.map(view)) };
}

/**
 * A site in a filter that the caller does not reach is 403, whether it exists or not
 * (docs/conventions.md, "Foreign ids").
 */
async function refuseUnknownSite(call: ListCall, orgId: string, siteId: string): Promise<void> {
  const site = await call.db
    .selectFrom("sites")
    .select("id")
    .where("id", "=", siteId)
    .where("orgId", "=", orgId)
    .executeTakeFirst();
  if (!site) throw problem("SITE_ACCESS_DENIED");
}
