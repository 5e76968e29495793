import { type AliasableExpression, type Expression, expressionBuilder, type SqlBool } from "kysely";
import { fold, matches } from "#server/db/dialect/text";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import type { Target } from "#server/features/people/core/target";
import { problem } from "#server/problem";

type Common = Pick<Database["partnerUsers"], keyof Database["partnerUsers"] & keyof Database["organizationUsers"]>;
type Status = "invited" | "active" | "disabled";

const eb = expressionBuilder<Database & { member: Common }, "member" | "users">();
const either = <T>(invited: Expression<T>, own: Expression<T>) =>
  eb.case().when("member.acceptedAt", "is", null).then(invited).else(own).end() as unknown as AliasableExpression<T>;

/**
 * What a tenant sees of a member: of the account once the person has accepted; until then what the inviter wrote, under
 * the id of the invitation, which does not even tell whether there is an account.
 */
const shown = {
  id: either(eb.ref("member.id"), eb.ref("users.id")),
  email: either<string | null>(eb.ref("member.invitedEmail"), eb.ref("users.email")),
  name: either<string | null>(eb.ref("member.invitedName"), eb.ref("users.name")),
  status: either<string>(eb.cast<string>(eb.val("invited"), "text"), eb.ref("users.status")),
  mfaSecret: either<string | null>(eb.cast<string | null>(eb.val(null), "text"), eb.ref("users.mfaSecret")),
  createdAt: either(eb.ref("member.createdAt"), eb.ref("users.createdAt")),
  updatedAt: either(eb.ref("member.updatedAt"), eb.ref("users.updatedAt")),
};

const personColumns = () =>
  [
    shown.id.as("id"),
    shown.email.as("email"),
    shown.name.as("name"),
    shown.status.as("status"),
    shown.mfaSecret.as("mfaSecret"),
    shown.createdAt.as("createdAt"),
    shown.updatedAt.as("updatedAt"),
  ] as const;

export type Filters = {
  status: Status | undefined;
  /** Of a part of name or address. */
  pattern: string | undefined;
};

/** The members that a list is about. */
export function matching({ status, pattern }: Filters): Expression<SqlBool> {
  const asked: Expression<SqlBool>[] = [];
  if (status !== undefined) asked.push(eb(shown.status, "=", status));
  if (pattern !== undefined) asked.push(eb.or([matches(shown.name, pattern), matches(shown.email, pattern)]));
  return eb.and(asked);
}

/** Members of a partner and whom it has invited, by name. */
export const partnerMembers = (db: Reader, partnerId: string) =>
  db
    .selectFrom("partnerUsers as member")
    .leftJoin("users", "users.id", "member.userId")
    .where("member.partnerId", "=", partnerId)
    .select(["member.id as membershipId", "member.roleId", "member.acceptedAt", "member.lastActiveAt as lastLoginAt"])
    .select("member.orgAccess")
    .select(personColumns)
    .select((query) =>
      query.selectFrom("roles").select("roles.name").whereRef("roles.id", "=", "member.roleId").as("roleName"),
    )
    .orderBy(fold(shown.name))
    .orderBy("member.id");

/** Members of an organization and whom it has invited, by name. */
export const organizationMembers = (db: Reader, orgId: string) =>
  db
    .selectFrom("organizationUsers as member")
    .leftJoin("users", "users.id", "member.userId")
    .where("member.orgId", "=", orgId)
    .select(["member.id as membershipId", "member.roleId", "member.acceptedAt", "member.lastActiveAt as lastLoginAt"])
    .select("member.siteIds")
    .select(personColumns)
    .select((query) =>
      query.selectFrom("roles").select("roles.name").whereRef("roles.id", "=", "member.roleId").as("roleName"),
    )
    .orderBy(fold(shown.name))
    .orderBy("member.id");

interface MemberRow {
  id: string;
  email: string | null;
  name: string | null;
  status: string;
  lastLoginAt: string | null;
  mfaSecret: string | null;
  membershipId: string;
  acceptedAt: string | null;
  roleId: string;
  roleName: string | null;
  createdAt: string;
  updatedAt: string;
}

/** As the API shows a member: whether there is a factor, never the factor. */
export function viewMember<R extends MemberRow>({ mfaSecret, membershipId: _, acceptedAt: __, ...row }: R) {
  return {
    ...row,
    email: row.email ?? "",
    name: row.name ?? "",
    status: row.status as Status,
    mfaEnabled: mfaSecret !== null,
  };
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

/** The member of this target or the invitation; NOT_FOUND for any other person. */
export async function findMember(db: Reader, target: Target, id: string) {
  if (target.kind === "organization") {
    const row = await organizationMembers(db, target.orgId).where(shown.id, "=", id).executeTakeFirst();
    if (!row) throw problem("NOT_FOUND");
    return { ...viewMember(row), pending: row.acceptedAt === null };
  }
  const row = await partnerMembers(db, target.partnerId).where(shown.id, "=", id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  const orgs = await selectedOrgs(db, [row.membershipId]);
  return { ...viewMember(row), orgIds: orgs.get(row.membershipId) ?? [], pending: row.acceptedAt === null };
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
