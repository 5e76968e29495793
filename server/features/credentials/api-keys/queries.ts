import { held } from "#server/db/dialect/locks";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { type ApiKeyStatus, statusAt } from "./rules.ts";

/** Every column but the hash, which is never returned. */
export const apiKeyColumns = [
  "apiKeys.id",
  "apiKeys.orgId",
  "apiKeys.name",
  "apiKeys.keyPrefix",
  "apiKeys.scopes",
  "apiKeys.expiresAt",
  "apiKeys.rateLimit",
  "apiKeys.status",
  "apiKeys.principalType",
  "apiKeys.principalId",
  "apiKeys.createdBy",
  "apiKeys.lastUsedAt",
  "apiKeys.usageCount",
  "apiKeys.keyIssuedAt",
  "apiKeys.createdAt",
  "apiKeys.updatedAt",
] as const;

/** The key with the status it has now. */
export const view = <R extends { status: ApiKeyStatus; expiresAt: string | null }>(row: R, now: string): R => ({
  ...row,
  status: statusAt(row, now),
});

/** NOT_FOUND, also for another tenant's key. */
export async function getApiKey(call: Pick<Call, "clock">, db: Reader, id: string) {
  const row = await db
    .selectFrom("apiKeys")
    .innerJoin("organizations", "organizations.id", "apiKeys.orgId")
    .select(apiKeyColumns)
    .where("apiKeys.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return view(row, call.clock.now());
}

/** The key, held until the transaction ends and named in its audit entry. */
export async function holdApiKey(call: Call, tx: Tx, id: string) {
  await held(tx.selectFrom("apiKeys").select("id").where("id", "=", id), call.services.store.dialect).execute();
  const key = await getApiKey(call, tx, id);
  call.audit.note({
    resource: { id: key.id, name: key.name },
    owner: { orgId: key.orgId },
    details: { keyPrefix: key.keyPrefix },
  });
  return key;
}

/** Revoked and expired keys cannot be changed (docs/credentials.md, "Life of an API key"). */
export function refuseInactive(key: { status: ApiKeyStatus }): void {
  if (key.status === "active") return;
  throw problem("API_KEY_NOT_ACTIVE", {
    message: `Cannot update ${key.status} API key`,
    details: { status: key.status },
  });
}
