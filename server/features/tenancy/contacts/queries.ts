import type { ContactsTable } from "#server/db/tables/tenancy";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { ContactRole } from "./rules.ts";

export const contactColumns = [
  "contacts.id",
  "contacts.orgId",
  "contacts.siteId",
  "contacts.name",
  "contacts.email",
  "contacts.phone",
  "contacts.mobile",
  "contacts.title",
  "contacts.roles",
  "contacts.isPrimary",
  "contacts.notes",
  "contacts.createdAt",
  "contacts.updatedAt",
] as const;

/** Stored roles were checked when they were written. */
export const view = <R extends { roles: ContactsTable["roles"] }>(row: R) => ({
  ...row,
  roles: row.roles as ContactRole[],
});

/**
 * NOT_FOUND also for another tenant's contact and for one of a site that the caller does not reach
 * (docs/conventions.md, "Site rule").
 */
export async function getContact(db: Reader, id: string) {
  const row = await db
    .selectFrom("contacts")
    .innerJoin("organizations", "organizations.id", "contacts.orgId")
    .select(contactColumns)
    .where("contacts.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return view(row);
}

/**
 * Demotes the present primary contact of an organization (siteId null) or of one of its sites
 * (docs/tenancy.md, "Primary contacts"). Call it under the organization's contact lock.
 */
export async function demotePrimary(
  tx: Tx,
  scope: { orgId: string; siteId: string | null; exceptId: string; now: string },
): Promise<string | undefined> {
  const demoted = await tx
    .updateTable("contacts")
    .set({ isPrimary: false, updatedAt: scope.now })
    .where("orgId", "=", scope.orgId)
    .where("siteId", scope.siteId === null ? "is" : "=", scope.siteId)
    .where("isPrimary", "=", true)
    .where("id", "<>", scope.exceptId)
    .returning("id")
    .executeTakeFirst();
  return demoted?.id;
}
