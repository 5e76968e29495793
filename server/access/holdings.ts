import type { Reader } from "#server/db/unit-of-work";
import { permissionsOfRole } from "./roles.ts";

/** An organization with the sites in question (null = all), or a partner itself. */
type Over = { readonly orgId: string; readonly siteIds: readonly string[] | null } | { readonly partnerId: string };

/**
 * The permissions that a person holds now over a tenant, one list per membership that they accepted; none unless they
 * are active. Needs an unscoped handle.
 */
export async function holdingsOver(db: Reader, userId: string, over: Over): Promise<readonly string[][]> {
  const user = await db
    .selectFrom("users")
    .select(["status", "isPlatformAdmin"])
    .where("id", "=", userId)
    .executeTakeFirst();
  if (user?.status !== "active") return [];
  const roles = "orgId" in over ? await overOrganization(db, userId, over) : await overPartner(db, userId, over);
  const held = await Promise.all(roles.map(({ roleId }) => permissionsOfRole(db, roleId)));
  return user.isPlatformAdmin ? [["*:*"], ...held] : held;
}

const overPartner = (db: Reader, userId: string, { partnerId }: { partnerId: string }) =>
  db
    .selectFrom("partnerUsers")
    .select("roleId")
    .where("partnerId", "=", partnerId)
    .where("userId", "=", userId)
    .where("acceptedAt", "is not", null)
    .where("orgAccess", "=", "all")
    .execute();

async function overOrganization(
  db: Reader,
  userId: string,
  { orgId, siteIds }: { orgId: string; siteIds: readonly string[] | null },
) {
  const asMember = await db
    .selectFrom("organizationUsers")
    .select(["roleId", "siteIds"])
    .where("orgId", "=", orgId)
    .where("userId", "=", userId)
    .where("acceptedAt", "is not", null)
    .execute();
  const asStaff = await db
    .selectFrom("partnerUsers")
    .innerJoin("organizations", "organizations.partnerId", "partnerUsers.partnerId")
    .leftJoin("partnerUserOrgs", (join) =>
      join
        .onRef("partnerUserOrgs.membershipId", "=", "partnerUsers.id")
        .onRef("partnerUserOrgs.orgId", "=", "organizations.id"),
    )
    .select(["partnerUsers.roleId", "partnerUsers.orgAccess", "partnerUserOrgs.orgId as selected"])
    .where("organizations.id", "=", orgId)
    .where("partnerUsers.userId", "=", userId)
    .where("partnerUsers.acceptedAt", "is not", null)
    .execute();
  // Members confined to sites hold nothing outside them (docs/conventions.md, "Site rule").
  const within = (own: readonly string[] | null) =>
    !own?.length || (siteIds?.length ? siteIds.every((id) => own.includes(id)) : false);
  return [
    ...asMember.filter((row) => within(row.siteIds)),
    ...asStaff.filter(({ orgAccess, selected }) => orgAccess === "all" || (orgAccess === "selected" && selected)),
  ];
}
