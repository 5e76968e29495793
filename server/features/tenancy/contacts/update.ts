import type { Endpoint } from "#contract/core/endpoint";
import type { contacts } from "#contract/resources/tenancy/contacts";
import { getWritableOrg, outsideSites } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import { changedFields } from "#server/audit/changed-fields";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { contactLock, siteGone } from "./create.ts";
import { demotePrimary, getContact } from "./queries.ts";
import { contactProblem, distinctRoles } from "./rules.ts";

type UpdateCall = typeof contacts.update extends Endpoint<infer T> ? Call<T> : never;

/**
 * Null clears, an omitted field stays; the rules are checked on the row as it will be (docs/tenancy.md, "Contacts").
 */
export async function updateContact(call: UpdateCall) {
  const { orgId, ...fields } = call.body;
  return call.transaction(async (tx) => {
    const before = await getWritableContact(call, tx, call.params.contactId);
    if (orgId !== undefined && orgId !== before.orgId) {
      throw problem("FIELD_IMMUTABLE", { details: { field: "orgId" } });
    }
    if (Object.keys(fields).length === 0) throw problem("NO_UPDATES");
    if (fields.roles !== undefined) fields.roles = distinctRoles(fields.roles);
    const merged = { ...before, ...fields };
    const code = contactProblem(merged);
    if (code) throw problem(code);
    call.audit.note({ siteIds: [before.siteId, merged.siteId] });
    if (merged.siteId !== before.siteId) {
      await refuseForeignSite(call, tx, { orgId: before.orgId, siteId: merged.siteId, code: "site-not-in-org" });
    }
    const now = call.clock.now();
    if (merged.isPrimary) {
      const scope = { orgId: before.orgId, siteId: merged.siteId, exceptId: before.id, now };
      call.audit.note({ details: { demotedId: await demotePrimary(tx, scope) } });
    }
    try {
      await tx
        .updateTable("contacts")
        .set({ ...fields, updatedAt: now })
        .where("id", "=", before.id)
        .execute();
    } catch (error) {
      throw siteGone(error);
    }
    call.audit.note({ details: { changedFields: changedFields(before, fields) } });
    return getContact(tx, before.id);
  });
}

/** The contact under its organization's lock. One of the whole organization is read-only to callers confined to sites. */
export async function getWritableContact(call: Call, tx: Tx, id: string) {
  const found = await getContact(tx, id);
  call.audit.note({ resource: { id, name: found.name }, owner: { orgId: found.orgId }, siteIds: [found.siteId] });
  await getWritableOrg(call, found.orgId, tx);
  await lockText(tx, call.services.store.dialect, contactLock(found.orgId));
  const contact = await getContact(tx, id);
  if (outsideSites(call, contact.siteId)) throw problem("SITE_ACCESS_DENIED");
  return contact;
}
