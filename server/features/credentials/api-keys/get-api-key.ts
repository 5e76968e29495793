import type { Reader } from "#server/db/unit-of-work";
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
