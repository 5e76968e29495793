import type { Kysely } from "kysely";
import { prepared } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { AccessClaims } from "./access-token.ts";
import type { UserPrincipal } from "./principal.ts";
import { permissionsOfRole } from "./roles.ts";

/** Statuses of an organization whose people may sign in (docs/tenancy.md, "Organization status"). */
export const openOrganization = ["active", "trial"] as const;

/**
 * Rebuilds the caller from stored membership on every request (docs/conventions.md, "Callers"): a revoked session, a
 * disabled user, a lost membership or a suspended tenant takes effect at its commit, in every process.
 */
export async function loadUser(
  db: Kysely<Database>,
  claims: AccessClaims,
  now: string,
): Promise<UserPrincipal | undefined> {
  const row = await find(db, claims);
  if (!row || row.revokedAt !== null || row.absoluteExpiresAt <= now || row.userStatus !== "active") return undefined;
  if (claims.scope === "system" && !row.isPlatformAdmin) return undefined;
  if (claims.scope === "organization" && !openOrganization.includes(row.orgStatus as "active")) return undefined;
  return {
    kind: "user",
    userId: row.userId,
    email: row.email,
    name: row.name,
    scope: claims.scope,
    partnerId: row.partnerId ?? null,
    partnerStatus: row.partnerDeletedAt ? "deleted" : (row.partnerStatus ?? null),
    orgId: row.orgId ?? null,
    membershipId: row.membershipId ?? null,
    roleId: row.roleId,
    roleName: row.roleName,
    permissions: await permissionsOfRole(db, row.roleId),
    sessionId: claims.sid,
    ssoProviderId: row.ssoProviderId,
    mfa: row.mfaVerifiedAt !== null,
    mfaEnrolled: row.mfaSecret !== null,
    mfaForced: row.forceMfa || requiresMfa(row.settings) || requiresMfa(row.orgSettings),
    orgAccess: row.orgAccess ?? null,
    allowedSiteIds: row.siteIds?.length ? row.siteIds : null,
  };
}

/** A tenant's `settings.security.requireMfa`. */
export const requiresMfa = (settings: Record<string, unknown> | null | undefined): boolean =>
  (settings?.["security"] as { requireMfa?: unknown } | undefined)?.requireMfa === true;

type RowOf<Query extends (...given: never[]) => Promise<unknown>> = NonNullable<Awaited<ReturnType<Query>>>;
type Account = RowOf<typeof systemUser>;
/** Fields that only members of a partner or an organization have are undefined for others. */
type Found = Account & Partial<Omit<RowOf<typeof partnerUser> & RowOf<typeof organizationUser>, keyof Account>>;

/** One query per request for every scope; each is built once (measured: building costs more than running it). */
function find(
  db: Kysely<Database>,
  { scope, sid, sub, roleId, partnerId, orgId }: AccessClaims,
): Promise<Found | undefined> {
  if (scope === "partner") return partnerUser(db, { sid, sub, partnerId });
  if (scope === "system") return systemUser(db, { sid, sub, roleId });
  return organizationUser(db, { sid, sub, orgId });
}

const account = (db: Kysely<Database>, { sid, sub }: { sid: string; sub: string }) =>
  db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.userId")
    .where("sessions.id", "=", sid)
    .where("sessions.userId", "=", sub)
    .select([
      "users.id as userId",
      "users.email",
      "users.name",
      "users.status as userStatus",
      "users.isPlatformAdmin",
      "users.mfaSecret",
      "sessions.revokedAt",
      "sessions.absoluteExpiresAt",
      "sessions.mfaVerifiedAt",
      "sessions.ssoProviderId",
    ]);

const roleColumns = ["roles.id as roleId", "roles.name as roleName", "roles.forceMfa"] as const;
const partnerColumns = [
  "partners.id as partnerId",
  "partners.status as partnerStatus",
  "partners.deletedAt as partnerDeletedAt",
  "partners.settings as settings",
] as const;

const systemUser = prepared(["sid", "sub", "roleId"], (db, at) =>
  account(db, at)
    .innerJoin("roles", (join) => join.on("roles.scope", "=", "system"))
    .where("roles.id", "=", at.roleId)
    .select(roleColumns),
);

const partnerUser = prepared(["sid", "sub", "partnerId"], (db, at) =>
  account(db, at)
    .innerJoin("partnerUsers", "partnerUsers.userId", "users.id")
    .innerJoin("partners", "partners.id", "partnerUsers.partnerId")
    .innerJoin("roles", "roles.id", "partnerUsers.roleId")
    .where("partners.id", "=", at.partnerId)
    .where("partnerUsers.acceptedAt", "is not", null)
    .select(roleColumns)
    .select(["partnerUsers.id as membershipId", "partnerUsers.orgAccess"])
    .select(partnerColumns),
);

const organizationUser = prepared(["sid", "sub", "orgId"], (db, at) =>
  account(db, at)
    .innerJoin("organizationUsers", "organizationUsers.userId", "users.id")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .innerJoin("roles", "roles.id", "organizationUsers.roleId")
    .where("organizations.id", "=", at.orgId)
    .where("organizations.deletedAt", "is", null)
    .where("organizationUsers.acceptedAt", "is not", null)
    .select(roleColumns)
    .select(["organizationUsers.id as membershipId", "organizationUsers.siteIds"])
    .select(["organizations.id as orgId", "organizations.status as orgStatus"])
    .select("organizations.settings as orgSettings")
    .select(partnerColumns),
);
