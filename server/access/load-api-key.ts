import type { Kysely } from "kysely";
import type { ErrorCode } from "#contract/core/errors";
import { grants, type Permission } from "#contract/core/permissions";
import { asSystem } from "#server/db/as-system";
import type { Database } from "#server/db/tables";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { findKey } from "./key-throttle.ts";
import { openOrganization } from "./load-user.ts";
import type { ApiKeyPrincipal } from "./principal.ts";
import { permissionsOfRole } from "./roles.ts";

/**
 * The organization's key in `X-API-Key`, read again for every request, so revoking or rotating takes effect at its
 * commit. Refused in the order of docs/credentials.md, "API key authentication".
 */
export async function loadApiKey(
  services: Services,
  key: string | undefined,
  ip: string | null,
): Promise<ApiKeyPrincipal> {
  if (key === undefined || key === "") throw problem("API_KEY_MISSING");
  if (!key.startsWith("svc_")) throw problem("API_KEY_INVALID_FORMAT");
  const db = asSystem(services, "authenticate");
  const keyHash = sha256(key);
  // A partner principal's key is never accepted as an organization's key.
  const foreign = key.startsWith("svc_sp_");
  const look = async () => (foreign ? undefined : find(db).where("apiKeys.keyHash", "=", keyHash).executeTakeFirst());
  const row = await findKey(services, ip, keyHash, look);
  if (!row) throw problem("API_KEY_INVALID");
  return admitted(services, db, row);
}

/** Who a key is that nobody presents: what it asked for earlier is done for it now, and refused where it would be. */
export async function loadKeyById(services: Services, keyId: string): Promise<ApiKeyPrincipal> {
  const db = asSystem(services, "authenticate");
  const row = await find(db).where("apiKeys.id", "=", keyId).executeTakeFirst();
  if (!row) throw problem("API_KEY_INVALID");
  return admitted(services, db, row);
}

async function admitted(services: Services, db: Kysely<Database>, row: KeyRow): Promise<ApiKeyPrincipal> {
  const { keyHash } = row;
  if (row.status === "revoked") throw refused(row, "API_KEY_REVOKED", "revoked");
  if (row.status === "expired") throw refused(row, "API_KEY_EXPIRED", "expired");
  if (row.expiresAt !== null && row.expiresAt <= services.clock.now()) {
    await services.hooks.onKeyExpired({ db, kind: "apiKey", keyId: row.id, keyHash, now: services.clock.now() });
    throw refused(row, "API_KEY_EXPIRED", "expired");
  }
  const scopes = await scopesOf(db, row);
  return {
    kind: "apiKey",
    keyId: row.id,
    keyHash,
    name: row.name,
    orgId: row.orgId,
    partnerStatus: row.partnerDeletedAt === null ? row.partnerStatus : "deleted",
    scopes,
    rateLimit: row.rateLimit,
    servicePrincipalId: row.principalId,
  };
}

const find = (db: Kysely<Database>) =>
  db
    .selectFrom("apiKeys")
    .innerJoin("organizations", "organizations.id", "apiKeys.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .leftJoin("users", "users.id", "apiKeys.createdBy")
    .leftJoin("servicePrincipals", "servicePrincipals.id", "apiKeys.principalId")
    .select([
      "apiKeys.id",
      "apiKeys.keyHash",
      "apiKeys.name",
      "apiKeys.orgId",
      "apiKeys.scopes",
      "apiKeys.status",
      "apiKeys.expiresAt",
      "apiKeys.rateLimit",
      "apiKeys.principalType",
      "apiKeys.principalId",
      "apiKeys.createdBy",
      "organizations.partnerId",
      "organizations.status as orgStatus",
      "organizations.deletedAt as orgDeletedAt",
      "partners.status as partnerStatus",
      "partners.deletedAt as partnerDeletedAt",
      "users.status as creatorStatus",
      "users.isPlatformAdmin as creatorIsAdmin",
      "servicePrincipals.status as principalStatus",
      "servicePrincipals.scopes as principalScopes",
    ]);

type KeyRow = Awaited<ReturnType<ReturnType<typeof find>["executeTakeFirstOrThrow"]>>;

/** The answer to a key that somebody has, with what its organization's audit log tells of it. */
const refused = (row: KeyRow, code: ErrorCode, reason: string) =>
  problem(code, {
    refused: {
      actor: { type: "api_key", id: row.id },
      owner: { orgId: row.orgId },
      reason,
      ...(row.principalId === null ? {} : { through: { servicePrincipalId: row.principalId } }),
    },
  });

/**
 * The scopes that the key has now (docs/credentials.md, "Owner of a key"); a service principal's key has at most its
 * principal's scopes.
 */
async function scopesOf(db: Kysely<Database>, row: KeyRow): Promise<readonly string[]> {
  const inactive = (reason: string) => refused(row, "API_KEY_OWNER_INACTIVE", reason);
  if (row.orgDeletedAt !== null || !openOrganization.includes(row.orgStatus as "active"))
    throw inactive("organization_inactive");
  if (row.principalType === "service") {
    if (row.principalStatus !== "active") throw inactive("principal_disabled");
    return row.scopes.filter((scope) => row.principalScopes?.includes(scope));
  }
  if (row.createdBy === null || row.creatorStatus !== "active") throw inactive("creator_inactive");
  if (row.scopes.length === 0) return [];
  const held = row.creatorIsAdmin ? ["*:*"] : await permissionsOver(db, row.createdBy, row);
  if (!row.scopes.every((scope) => grants(held, scope as Permission))) throw inactive("creator_lacks_scope");
  return row.scopes;
}

/** What a person may do throughout an organization now, as its member or its partner's. */
async function permissionsOver(
  db: Kysely<Database>,
  userId: string,
  { orgId, partnerId }: { orgId: string; partnerId: string },
): Promise<string[]> {
  const asMember = await db
    .selectFrom("organizationUsers")
    .select(["roleId", "siteIds"])
    .where("orgId", "=", orgId)
    .where("userId", "=", userId)
    .where("acceptedAt", "is not", null)
    .execute();
  const asPartner = await db
    .selectFrom("partnerUsers")
    .select("roleId")
    .where("partnerId", "=", partnerId)
    .where("userId", "=", userId)
    .where("acceptedAt", "is not", null)
    .where((eb) =>
      eb.or([
        eb("orgAccess", "=", "all"),
        eb.and([
          eb("orgAccess", "=", "selected"),
          eb.exists(
            eb
              .selectFrom("partnerUserOrgs")
              .select("partnerUserOrgs.orgId")
              .whereRef("partnerUserOrgs.membershipId", "=", "partnerUsers.id")
              .where("partnerUserOrgs.orgId", "=", orgId),
          ),
        ]),
      ]),
    )
    .execute();
  // Members confined to sites cannot own a key of the whole organization (docs/conventions.md, "Site rule").
  const roles = [...asMember.filter(({ siteIds }) => siteIds === null || siteIds.length === 0), ...asPartner];
  return (await Promise.all(roles.map(({ roleId }) => permissionsOfRole(db, roleId)))).flat();
}
