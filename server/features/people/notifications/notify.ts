import type { Insertable } from "kysely";
import type { Permission } from "#contract/core/permissions";
import { holdersOver, membersOver, type Over } from "#server/access/holdings";
import { lockText } from "#server/db/dialect/locks";
import type { Database } from "#server/db/tables";
import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import { addNotification, type Told } from "./add-notification.ts";
import { cut, isOwnPath, MESSAGE_MAX, TITLE_MAX } from "./rules.ts";

type Row = Insertable<Database["notifications"]>;

/** What it is about: a site of an organization, the whole organization, a partner, or the installation. */
export type Subject =
  | { readonly orgId: string; readonly siteId: string | null }
  | { readonly partnerId: string }
  | "installation";

export interface Notice extends Pick<Row, "type" | "priority" | "title" | "message"> {
  readonly about: Subject;
  /**
   * One person, or all active people who hold a permission; of either only who reaches what it is about now. Of the
   * installation its administrators are told, and one of them of what no membership of theirs reaches.
   */
  readonly to: { readonly userId: string } | { readonly holding: Permission; readonly except?: string | null };
  /** A path below the application's own address. */
  readonly link?: string;
  readonly metadata?: Record<string, unknown>;
}

/**
 * Tells people of something, in the transaction in which it happens and under an unscoped handle (docs/people.md,
 * "Notifications"). Answers how many were told.
 */
export async function notify(
  tx: Tx,
  services: Pick<EventServices, "store" | "clock" | "random">,
  notice: Notice,
): Promise<number> {
  const { about, to, type, priority, title, message, link = null, metadata = {} } = notice;
  if (link !== null && !isOwnPath(link)) throw new Error(`a notification may not lead to ${link}`);
  const place = await placeOf(tx, about);
  if (place === undefined) return 0;
  const said = { title: cut(title, TITLE_MAX), message: cut(message, MESSAGE_MAX), link, metadata };
  const people = await recipientsOf(tx, about, to);
  if (people.length === 0 && "userId" in to && about !== "installation")
    return notify(tx, services, { ...notice, about: "installation" });
  for (const person of people) {
    await lockText(tx, services.store.dialect, `notifications:${person.userId}`);
    await addNotification(tx, services, person, { ...place, type, priority, ...said });
  }
  return people.length;
}

const atInstallation = { partnerId: null, orgId: null, siteId: null };

/** Undefined: the tenant is gone, and nobody reaches it. */
async function placeOf(tx: Tx, about: Subject) {
  if (about === "installation") return atInstallation;
  if ("partnerId" in about) return { ...atInstallation, partnerId: about.partnerId };
  const org = await tx
    .selectFrom("organizations")
    .select("partnerId")
    .where("id", "=", about.orgId)
    .where("deletedAt", "is", null)
    .executeTakeFirst();
  return org && { ...about, partnerId: org.partnerId };
}

/** Each once, in an order in which parallel producers do not wait for each other in a circle. */
async function recipientsOf(tx: Tx, about: Subject, to: Notice["to"]): Promise<Told[]> {
  const found = about === "installation" ? await administrators(tx, to) : await reaching(tx, overOf(about), to);
  // Whoever is both reads it in either tenant, and counts as staff.
  const told = new Map(found.map(({ userId }) => [userId, { userId, asStaff: false }]));
  for (const { userId, asStaff } of found) if (asStaff) told.set(userId, { userId, asStaff });
  if ("except" in to && to.except) told.delete(to.except);
  return [...told.values()].toSorted((one, other) => (one.userId < other.userId ? -1 : 1));
}

const reaching = (tx: Tx, over: Over, to: Notice["to"]) =>
  "userId" in to ? membersOver(tx, over, to.userId) : holdersOver(tx, over, to.holding);

const overOf = (about: Exclude<Subject, "installation">): Over =>
  "partnerId" in about ? about : { orgId: about.orgId, siteIds: about.siteId === null ? null : [about.siteId] };

async function administrators(tx: Tx, to: Notice["to"]): Promise<Told[]> {
  const rows = await tx
    .selectFrom("users")
    .select("id")
    .where("isPlatformAdmin", "=", true)
    .where("status", "=", "active")
    .$if("userId" in to, (query) => query.where("id", "=", (to as { userId: string }).userId))
    .execute();
  return rows.map(({ id }) => ({ userId: id, asStaff: true }));
}
