import { asSystem } from "#server/db/as-system";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { findKey } from "./key-throttle.ts";
import type { PartnerKeyPrincipal } from "./principal.ts";
import { comesFrom } from "./source-address.ts";

/**
 * The partner principal of `X-API-Key`. Whatever is wrong with the key, its principal, its partner or the source
 * address gives the same answer (docs/credentials.md, "Partner key authentication").
 */
export async function loadPartnerKey(
  services: Services,
  key: string | undefined,
  ip: string | null,
): Promise<PartnerKeyPrincipal> {
  if (key === undefined || key === "") throw problem("API_KEY_MISSING");
  const keyHash = sha256(key);
  const wellFormed = /^svc_sp_[A-Za-z0-9_-]{43}$/.test(key);
  const row = await findKey(services, ip, keyHash, async () => (wellFormed ? find(services, keyHash) : undefined));
  const now = services.clock.now();
  const over = (end: string | null) => end !== null && end <= now;
  const usable =
    row?.keyStatus === "active" &&
    !over(row.keyExpiresAt) &&
    row.status === "active" &&
    !over(row.expiresAt) &&
    row.partnerStatus === "active" &&
    row.partnerDeletedAt === null &&
    comesFrom(ip, row.sourceCidrs);
  if (!row || !usable) throw problem("API_KEY_INVALID");
  const { keyId, principalId, name, partnerId, orgAccess, expiresAt, sourceCidrs, rateLimit, scopes } = row;
  return {
    kind: "partnerKey",
    keyId,
    keyHash,
    principalId,
    name,
    partnerId,
    scopes,
    orgAccess,
    expiresAt,
    sourceCidrs,
    rateLimit,
  };
}

const find = (services: Services, keyHash: string) =>
  asSystem(services, "authenticate")
    .selectFrom("partnerServicePrincipalKeys as keys")
    .innerJoin("partnerServicePrincipals as principals", "principals.id", "keys.principalId")
    .innerJoin("partners", "partners.id", "principals.partnerId")
    .where("keys.keyHash", "=", keyHash)
    .select([
      "keys.id as keyId",
      "keys.status as keyStatus",
      "keys.expiresAt as keyExpiresAt",
      "keys.rateLimit",
      "principals.id as principalId",
      "principals.name",
      "principals.partnerId",
      "principals.status",
      "principals.scopes",
      "principals.orgAccess",
      "principals.expiresAt",
      "principals.sourceCidrs",
      "partners.status as partnerStatus",
      "partners.deletedAt as partnerDeletedAt",
    ])
    .executeTakeFirst();
