import type { Expression, ExpressionBuilder, Kysely, Selectable, SqlBool } from "kysely";
import type { UserPrincipal } from "#server/access/principal";
import { among } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";

type Builder = ExpressionBuilder<Database, "notifications">;

/** Whose rows, and of which tenant. A type of its own, so that it fits `Given`. */
export type Own = {
  userId: string;
  partnerId: string | undefined;
  orgId: string | undefined;
  sites: string[] | undefined;
};

/** What the session reaches: a partner without access to all its organizations sees nothing of the partner itself. */
export type Within = "system" | "organization" | "organizations" | "partner";

export const notificationColumns = [
  "notifications.id",
  "notifications.userId",
  "notifications.partnerId",
  "notifications.orgId",
  "notifications.siteId",
  "notifications.type",
  "notifications.priority",
  "notifications.title",
  "notifications.message",
  "notifications.link",
  "notifications.metadata",
  "notifications.more",
  "notifications.readAt",
  "notifications.createdAt",
  "notifications.updatedAt",
] as const;

export function ownOf({ userId, scope, orgAccess, ...who }: UserPrincipal): { own: Own; within: Within } {
  const within = scope === "partner" && orgAccess !== "all" ? "organizations" : scope;
  const own = {
    userId,
    partnerId: within === "partner" ? (who.partnerId ?? undefined) : undefined,
    orgId: within === "organization" ? (who.orgId ?? undefined) : undefined,
    sites: within === "organization" ? who.allowedSiteIds?.slice() : undefined,
  };
  return { own, within };
}

/**
 * The caller's rows of the session's tenant, as far as they still reach what those are about (docs/people.md,
 * "Notifications"). The handle narrows the organizations.
 */
export const isOwn =
  (db: Pick<Kysely<Database>, "getExecutor">, own: Own, within: Within) =>
  (eb: Builder): Expression<SqlBool> =>
    eb.and([eb("notifications.userId", "=", own.userId), inTenant(eb, db, own, within)]);

function inTenant(
  eb: Builder,
  db: Pick<Kysely<Database>, "getExecutor">,
  own: Own,
  within: Within,
): Expression<SqlBool> {
  if (within === "system") return eb("notifications.partnerId", "is", null);
  if (within === "organization") {
    const ofOrganization = eb("notifications.orgId", "=", own.orgId as string);
    if (own.sites === undefined) return ofOrganization;
    return eb.and([ofOrganization, among(db, eb.ref("notifications.siteId"), own.sites)]);
  }
  const ofOrganizations = eb("notifications.orgId", "in", eb.selectFrom("organizations").select("organizations.id"));
  if (within === "organizations") return ofOrganizations;
  return eb.or([
    ofOrganizations,
    eb.and([eb("notifications.orgId", "is", null), eb("notifications.partnerId", "=", own.partnerId as string)]),
  ]);
}

export async function unreadOf(db: Reader, who: UserPrincipal): Promise<number> {
  const { own, within } = ownOf(who);
  return Number((await unread(db, own, within))[0]?.count);
}

const unread = preparedRows((db, own: Own, within: Within) =>
  db
    .selectFrom("notifications")
    .where(isOwn(db, own, within))
    .where("notifications.readAt", "is", null)
    .select((eb) => eb.fn.countAll<number | string>().as("count")),
);

/** As the API shows it. */
export function view({ siteId: _, more, ...row }: Selectable<Database["notifications"]>) {
  return {
    ...row,
    metadata: more === null ? row.metadata : { ...row.metadata, more },
    title: more === null ? row.title : `${more} more`,
    read: row.readAt !== null,
  };
}
