import type { Kysely } from "kysely";
import { prepared } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { AccessClaims } from "./access-token.ts";
import type { UserPrincipal } from "./principal.ts";
import { permissionsOfRole } from "./roles.ts";

/** An organization whose people may sign in (contract 1 C3, columns "Org users"). */
export const openOrganization = ["active", "trial"] as const;

/**
 * Rebuilds the caller from stored membership on every request (contract 1 A2): a revoked session, a
 * disabled user, a lost membership or a suspended tenant counts from its commit, on every replica.
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
    partnerId: row.partnerId,
    partnerStatus: row.partnerDeletedAt === null ? row.partnerStatus : "deleted",
    orgId: row.orgId,
    membershipId: row.membershipId,
    roleId: row.roleId,
    roleName: row.roleName,
    permissions: await permissionsOfRole(db, row.roleId),
    sessionId: claims.sid,
    mfa: row.mfaVerifiedAt !== null,
    mfaEnrolled: row.mfaSecret !== null,
    mfaForced: row.forceMfa || requiresMfa(row.partnerSettings) || requiresMfa(row.orgSettings),
    orgAccess: row.orgAccess,
    allowedSiteIds: row.siteIds !== null && row.siteIds.length > 0 ? row.siteIds : null,
  };
}

/** A tenant's `settings.security.requireMfa`. */
export const requiresMfa = (settings: Record<string, unknown> | null): boolean =>
  (settings?.["security"] as { requireMfa?: unknown } | undefined)?.requireMfa === true;

interface Row {
  userId: string;
  email: string;
  name: string;
  userStatus: string;
  isPlatformAdmin: boolean;
  mfaSecret: string | null;
  revokedAt: string | null;
  absoluteExpiresAt: string;
  mfaVerifiedAt: string | null;
  roleId: string;
  roleName: string;
  forceMfa: boolean;
  membershipId: string | null;
  orgAccess: "all" | "selected" | "none" | null;
  siteIds: string[] | null;
  partnerId: string | null;
  partnerStatus: string | null;
  partnerDeletedAt: string | null;
  partnerSettings: Record<string, unknown> | null;
  orgId: string | null;
  orgStatus: string | null;
  orgSettings: Record<string, unknown> | null;
}

/** One query a request, whatever the scope; each is built once (measured: building costs more than running it). */
async function find(db: Kysely<Database>, claims: AccessClaims): Promise<Row | undefined> {
  const { sid, sub, roleId, partnerId, orgId } = claims;
  if (claims.scope === "partner") {
    const row = await partnerUser(db, { sid, sub, partnerId });
    return row && { ...noOrganization, ...row, partnerSettings: row.settings };
  }
  if (claims.scope === "system") {
    const row = await systemUser(db, { sid, sub, roleId });
    return row && { ...noPartner, ...noOrganization, ...row };
  }
  const row = await organizationUser(db, { sid, sub, orgId });
  if (!row) return undefined;
  const org = await organizationSettings(db, { orgId });
  return { ...noPartner, ...row, partnerSettings: row.settings, orgSettings: org?.settings ?? null };
}

const noPartner = {
  partnerId: null,
  partnerStatus: null,
  partnerDeletedAt: null,
  partnerSettings: null,
  orgAccess: null,
};
const noOrganization = { membershipId: null, orgId: null, orgStatus: null, orgSettings: null, siteIds: null };

type Settings = { settings: Record<string, unknown> };
type Account = Omit<Row, keyof typeof noPartner | keyof typeof noOrganization>;
type Of<Names extends keyof Row> = Account & Pick<Row, Names>;
type PartnerNames = "partnerId" | "partnerStatus" | "partnerDeletedAt";

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
    ]);

const roleColumns = ["roles.id as roleId", "roles.name as roleName", "roles.forceMfa"] as const;
const partnerColumns = [
  "partners.id as partnerId",
  "partners.status as partnerStatus",
  "partners.deletedAt as partnerDeletedAt",
  "partners.settings as settings",
] as const;

const systemUser = prepared<Account, "sid" | "sub" | "roleId">(["sid", "sub", "roleId"], (db, at) =>
  account(db, at)
    .innerJoin("roles", (join) => join.on("roles.scope", "=", "system"))
    .where("roles.id", "=", at.roleId)
    .select(roleColumns),
);

const partnerUser = prepared<Of<PartnerNames | "membershipId" | "orgAccess"> & Settings, "sid" | "sub" | "partnerId">(
  ["sid", "sub", "partnerId"],
  (db, at) =>
    account(db, at)
      .innerJoin("partnerUsers", "partnerUsers.userId", "users.id")
      .innerJoin("partners", "partners.id", "partnerUsers.partnerId")
      .innerJoin("roles", "roles.id", "partnerUsers.roleId")
      .where("partners.id", "=", at.partnerId)
      .select(roleColumns)
      .select(["partnerUsers.id as membershipId", "partnerUsers.orgAccess"])
      .select(partnerColumns),
);

const organizationUser = prepared<
  Of<PartnerNames | "membershipId" | "siteIds" | "orgId" | "orgStatus"> & Settings,
  "sid" | "sub" | "orgId"
>(["sid", "sub", "orgId"], (db, at) =>
  account(db, at)
    .innerJoin("organizationUsers", "organizationUsers.userId", "users.id")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .innerJoin("roles", "roles.id", "organizationUsers.roleId")
    .where("organizations.id", "=", at.orgId)
    .where("organizations.deletedAt", "is", null)
    .select(roleColumns)
    .select(["organizationUsers.id as membershipId", "organizationUsers.siteIds"])
    .select(["organizations.id as orgId", "organizations.status as orgStatus"])
    .select(partnerColumns),
);

const organizationSettings = prepared<Settings, "orgId">(["orgId"], (db, at) =>
  db.selectFrom("organizations").select("settings").where("id", "=", at.orgId),
);
