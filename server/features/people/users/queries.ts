import { fold } from "#server/db/dialect/text";
import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { Target } from "./target.ts";

const userColumns = [
  "users.id",
  "users.email",
  "users.name",
  "users.status",
  "users.lastLoginAt",
  "users.mfaSecret",
  "users.createdAt",
  "users.updatedAt",
] as const;

/** Members of a partner, by name. */
export const partnerMembers = (db: Reader, partnerId: string) =>
  db
    .selectFrom("partnerUsers")
    .innerJoin("users", "users.id", "partnerUsers.userId")
    .where("partnerUsers.partnerId", "=", partnerId)
    .select(userColumns)
    .select(["partnerUsers.id as membershipId", "partnerUsers.roleId", "partnerUsers.orgAccess"])
    .select((eb) =>
      eb.selectFrom("roles").select("roles.name").whereRef("roles.id", "=", "partnerUsers.roleId").as("roleName"),
    )
    .orderBy((eb) => fold(eb.ref("users.name")))
    .orderBy("users.id");

/** Members of an organization, by name. */
export const organizationMembers = (db: Reader, orgId: string) =>
  db
    .selectFrom("organizationUsers")
    .innerJoin("users", "users.id", "organizationUsers.userId")
    .where("organizationUsers.orgId", "=", orgId)
    .select(userColumns)
    .select(["organizationUsers.id as membershipId", "organizationUsers.roleId", "organizationUsers.siteIds"])
    .select((eb) =>
      eb.selectFrom("roles").select("roles.name").whereRef("roles.id", "=", "organizationUsers.roleId").as("roleName"),
    )
    .orderBy((eb) => fold(eb.ref("users.name")))
    .orderBy("users.id");

interface MemberRow {
  id: string;
  email: string;
  name: string;
  status: "invited" | "active" | "disabled";
  lastLoginAt: string | null;
  mfaSecret: string | null;
  membershipId: string;
  roleId: string;
  roleName: string | null;
  createdAt: string;
  updatedAt: string;
}

/** As the API shows a member: whether there is a factor, never the factor. */
export function viewMember<R extends MemberRow>({ mfaSecret, membershipId: _, ...row }: R) {
  return { ...row, mfaEnabled: mfaSecret !== null };
}

/** The organizations of partner members with `orgAccess: "selected"`, by membership. */
export async function selectedOrgs(db: Reader, membershipIds: string[]): Promise<Map<string, string[]>> {
  const byMembership = new Map<string, string[]>();
  if (membershipIds.length === 0) return byMembership;
  const rows = await db
    .selectFrom("partnerUserOrgs")
    .select(["membershipId", "orgId"])
    .where("membershipId", "in", membershipIds)
    .orderBy("orgId")
    .execute();
  for (const { membershipId, orgId } of rows) {
    byMembership.set(membershipId, [...(byMembership.get(membershipId) ?? []), orgId]);
  }
  return byMembership;
}

/** The member of this target; NOT_FOUND for any other person. */
export async function getMember(db: Reader, target: Target, userId: string) {
  if (target.kind === "organization") {
    const row = await organizationMembers(db, target.orgId).where("users.id", "=", userId).executeTakeFirst();
    if (!row) throw problem("NOT_FOUND");
    return viewMember(row);
  }
  const row = await partnerMembers(db, target.partnerId).where("users.id", "=", userId).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  const orgs = await selectedOrgs(db, [row.membershipId]);
  return { ...viewMember(row), orgIds: orgs.get(row.membershipId) ?? [] };
}

/** A membership's id in this target, if the user has one. */
export async function findMembershipId(db: Reader, target: Target, userId: string): Promise<string | undefined> {
  const row =
    target.kind === "organization"
      ? await db
          .selectFrom("organizationUsers")
          .select("id")
          .where("orgId", "=", target.orgId)
          .where("userId", "=", userId)
          .executeTakeFirst()
      : await db
          .selectFrom("partnerUsers")
          .select("id")
          .where("partnerId", "=", target.partnerId)
          .where("userId", "=", userId)
          .executeTakeFirst();
  return row?.id;
}
