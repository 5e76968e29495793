import { type ApiKeyScope, apiKeyScopes } from "#contract/core/key-scopes";
import { grants } from "#contract/core/permissions";
import type { ApiKeysTable } from "#server/db/tables/credentials";

export type ApiKeyStatus = ApiKeysTable["status"];

/** A key past its end counts as expired, also before an authentication attempt marks it so. */
export function statusAt(key: { status: ApiKeyStatus; expiresAt: string | null }, now: string): ApiKeyStatus {
  return key.status === "active" && key.expiresAt !== null && key.expiresAt <= now ? "expired" : key.status;
}

export type ScopeDecision =
  | { scopes: ApiKeyScope[] }
  | { refused: "WILDCARD_SCOPE" }
  | { refused: "UNSUPPORTED_SCOPE"; scope: string };

/** Scopes once each, in the order given; no wildcard and nothing outside the vocabulary (contract 4 §1). */
export function decideScopes(wanted: readonly string[]): ScopeDecision {
  const scopes: ApiKeyScope[] = [];
  for (const scope of new Set(wanted)) {
    if (scope.includes("*")) return { refused: "WILDCARD_SCOPE" };
    if (!isApiKeyScope(scope)) return { refused: "UNSUPPORTED_SCOPE", scope };
    scopes.push(scope);
  }
  return { scopes };
}

const isApiKeyScope = (scope: string): scope is ApiKeyScope => (apiKeyScopes as readonly string[]).includes(scope);

/** The first scope the caller could not hand on: delegation needs the permission of the same name. */
export const scopeNotHeld = (permissions: readonly string[], scopes: readonly string[]): string | undefined =>
  scopes.find((scope) => !grants(permissions, scope as ApiKeyScope));
