import { apiKeyScopes } from "#contract/core/key-scopes";
import { user } from "#server/access/principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { decideScopes, scopeNotHeld } from "./rules.ts";

/** The scopes a caller asks for, checked against the vocabulary and the delegation ceiling (contract 4 §1). */
export function delegable(call: Pick<Call, "who">, wanted: readonly string[]): string[] {
  const decision = decideScopes(wanted);
  if ("scopes" in decision) {
    refuseBeyondOwn(call, decision.scopes);
    return decision.scopes;
  }
  if (decision.refused === "WILDCARD_SCOPE") throw problem("WILDCARD_SCOPE");
  throw problem("UNSUPPORTED_SCOPE", {
    message: `Unsupported API key scope: ${decision.scope}`,
    details: { supportedScopes: apiKeyScopes },
  });
}

/** Nobody hands on what they do not hold, also by rotating a key that somebody else made. */
export function refuseBeyondOwn(call: Pick<Call, "who">, scopes: readonly string[]): void {
  const scope = scopeNotHeld(user(call).permissions, scopes);
  if (scope !== undefined) throw problem("SCOPE_DELEGATION_DENIED", { details: { scope } });
}
