import type { ApiKeysTable } from "#server/db/tables/credentials";

export type ApiKeyStatus = ApiKeysTable["status"];

/** A key past `expiresAt` counts as expired even before an attempt to use it stores that. */
export function statusAt(key: { status: ApiKeyStatus; expiresAt: string | null }, now: string): ApiKeyStatus {
  return key.status === "active" && key.expiresAt !== null && key.expiresAt <= now ? "expired" : key.status;
}
