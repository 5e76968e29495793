import type { ApiKeysTable } from "#server/db/tables/credentials";

export type ApiKeyStatus = ApiKeysTable["status"];

/** A key past its end counts as expired, also before an authentication attempt marks it so. */
export function statusAt(key: { status: ApiKeyStatus; expiresAt: string | null }, now: string): ApiKeyStatus {
  return key.status === "active" && key.expiresAt !== null && key.expiresAt <= now ? "expired" : key.status;
}
