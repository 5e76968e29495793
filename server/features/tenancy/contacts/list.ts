import type { Endpoint } from "#contract/core/endpoint";
import type { contacts } from "#contract/resources/tenancy/contacts";
import { findOrg } from "#server/access/org-access";
import { withSiteNames } from "#server/access/place-names";
import type { DialectName } from "#server/db/dialect/index";
import { hasElement } from "#server/db/dialect/json";
import { fold } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { contactColumns, view } from "./queries.ts";

type ListCall = typeof contacts.list extends Endpoint<infer T> ? Call<T> : never;

/** Primary contacts first, then by name without regard to case, nameless ones last (docs/tenancy.md, "Contacts"). */
export async function listContacts(call: ListCall) {
  const org = await findOrg(call, call.params.id);
  if (!org) throw problem("NOT_FOUND");
  const { siteId, role } = call.query;
  const isOfNone = siteId === "none";
  if (siteId !== undefined && !isOfNone) await refuseUnknownSite(call, org.id, siteId);
  const asked = { orgId: org.id, siteId: isOfNone ? null : siteId, role };
  const page = await pageOf(call.db, call.query, asked, { dialect: call.services.store.dialect });
  return { ...page, data: await withSiteNames(call.db, page.data.map(view)) };
}

type Asked = {
  orgId: string;
  /** Null = contacts of no site. */
  siteId: string | null | undefined;
  role: string | undefined;
};

const pageOf = preparedPage((db, { orgId, siteId, role }: Asked, { dialect }: { dialect: DialectName }) => {
  let query = db.selectFrom("contacts").select(contactColumns).where("contacts.orgId", "=", orgId);
  if (siteId !== undefined) query = query.where("contacts.siteId", siteId === null ? "is" : "=", siteId);
  if (role !== undefined) query = query.where((eb) => hasElement(eb.ref("contacts.roles"), role, dialect));
  return query
    .orderBy("contacts.isPrimary", "desc")
    .orderBy(
      (eb) => fold(eb.ref("contacts.name")),
      (order) => order.asc().nullsLast(),
    )
    .orderBy("contacts.id");
});

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
