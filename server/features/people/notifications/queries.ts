import type { Expression, ExpressionBuilder, Selectable, SqlBool } from "kysely";
import type { UserPrincipal } from "#server/access/principal";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";

type Builder = ExpressionBuilder<Database, "notifications">;

/**
 * The caller's rows of the session's tenant, as far as they still reach what those are about (docs/people.md,
 * "Notifications"). The handle narrows the organizations.
 */
export const ownOf =
  (who: UserPrincipal) =>
  (eb: Builder): Expression<SqlBool> =>
    eb.and([eb("notifications.userId", "=", who.userId), inTenant(eb, who)]);

function inTenant(eb: Builder, who: UserPrincipal): Expression<SqlBool> {
  if (who.scope === "system") return eb("notifications.partnerId", "is", null);
  if (who.scope === "organization") {
    const ofOrganization = eb("notifications.orgId", "=", who.orgId);
    const sites = who.allowedSiteIds;
    return sites === null ? ofOrganization : eb.and([ofOrganization, eb("notifications.siteId", "in", [...sites])]);
  }
  const ofOrganizations = eb("notifications.orgId", "in", eb.selectFrom("organizations").select("organizations.id"));
  if (who.orgAccess !== "all") return ofOrganizations;
  return eb.or([
    ofOrganizations,
    eb.and([eb("notifications.orgId", "is", null), eb("notifications.partnerId", "=", who.partnerId)]),
  ]);
}

export async function unreadOf(db: Reader, who: UserPrincipal): Promise<number> {
  const { count } = await db
    .selectFrom("notifications")
    .where(ownOf(who))
    .where("notifications.readAt", "is", null)
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** As the API shows it. */
export function view({ siteId: _, more, ...row }: Selectable<Database["notifications"]>) {
  return {
    ...row,
    metadata: more === null ? row.metadata : { ...row.metadata, more },
    title: more === null ? row.title : `${more} more`,
    read: row.readAt !== null,
  };
}
