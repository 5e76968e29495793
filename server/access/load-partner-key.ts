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
  if (!row) throw problem("API_KEY_INVALID");
  const { keyId, principalId, name, partnerId, orgAccess, expiresAt, sourceCidrs, scopes } = row;
  const { principalRateLimit } = row;
  const rateLimit = Math.min(row.rateLimit ?? principalRateLimit, principalRateLimit);
  const reason = refusalOf(row, services.clock.now(), ip);
  if (reason !== undefined) {
    const through = { partnerServicePrincipalId: principalId };
    const actor = { type: "api_key", id: keyId } as const;
    throw problem("API_KEY_INVALID", { refused: { actor, owner: { partnerId }, reason, through } });
  }
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
    principalRateLimit,
  };
}

type KeyRow = NonNullable<Awaited<ReturnType<typeof find>>>;

/** Why a key is refused, as its partner's audit log tells it; undefined = it is good. */
function refusalOf(row: KeyRow, now: string, ip: string | null): string | undefined {
  const over = (end: string | null) => end !== null && end <= now;
  if (row.keyStatus !== "active") return "revoked";
  if (over(row.keyExpiresAt)) return "expired";
  if (row.status !== "active") return "principal_disabled";
  if (over(row.expiresAt)) return "principal_expired";
  if (row.partnerStatus !== "active" || row.partnerDeletedAt !== null) return "partner_inactive";
  return comesFrom(ip, row.sourceCidrs) ? undefined : "source_address";
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
      "principals.rateLimit as principalRateLimit",
      "partners.status as partnerStatus",
      "partners.deletedAt as partnerDeletedAt",
    ])
    .executeTakeFirst();
