import type { Endpoint } from "#contract/core/endpoint";
import type { contacts } from "#contract/resources/tenancy/contacts";
import { getWritableOrg } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import { lockText } from "#server/db/dialect/locks";
import { isForeignKeyViolation } from "#server/db/dialect/violations";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { demotePrimary, getContact } from "./queries.ts";
import { contactProblem, distinctRoles } from "./rules.ts";

type CreateCall = typeof contacts.create extends Endpoint<infer T> ? Call<T> : never;

const blank = {
  siteId: null,
  name: null,
  email: null,
  phone: null,
  mobile: null,
  title: null,
  roles: [] as string[],
  isPrimary: false,
  notes: null,
};

/** Creates a contact of the organization in the path, or of one of its sites (docs/tenancy.md, "Contacts"). */
export async function createContact(call: CreateCall) {
  return call.transaction(async (tx) => {
    const org = await getWritableOrg(call, call.params.id, tx);
    const id = call.random.uuid();
    const given = { ...blank, ...call.body };
    const row = { ...given, roles: distinctRoles(given.roles) };
    call.audit.note({ resource: { id, name: row.name }, owner: { orgId: org.id }, siteIds: [row.siteId] });
    const code = contactProblem(row);
    if (code) throw problem(code);
    await refuseForeignSite(call, tx, { orgId: org.id, siteId: row.siteId, code: "site-not-in-org" });
    const now = call.clock.now();
    if (row.isPrimary) {
      await lockText(tx, call.services.store.dialect, contactLock(org.id));
      const demotedId = await demotePrimary(tx, { orgId: org.id, siteId: row.siteId, exceptId: id, now });
      call.audit.note({ details: { demotedId } });
    }
    try {
      await tx
        .insertInto("contacts")
        .values({ id, orgId: org.id, ...row, createdAt: now, updatedAt: now })
        .execute();
    } catch (error) {
      throw siteGone(error);
    }
    call.audit.note({ details: { siteId: row.siteId, roles: row.roles, isPrimary: row.isPrimary } });
    return getContact(tx, id);
  });
}

/** Held by everything that may change which contact is primary. */
export const contactLock = (orgId: string) => `contacts:${orgId}`;

/** The site was deleted between the check and the write. */
export const siteGone = (error: unknown): unknown =>
  isForeignKeyViolation(error) ? problem("site-not-in-org", { cause: error }) : error;
