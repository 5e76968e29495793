import { grants, type Permission } from "#contract/core/permissions";
import { problem } from "#server/problem";
import { type Principal, user } from "./principal.ts";

export interface Caller {
  readonly who: Principal;
}

export type ScopeDecision<S> =
  | { scopes: S[] }
  | { refused: "WILDCARD_SCOPE" }
  | { refused: "UNSUPPORTED_SCOPE"; scope: string };

/**
 * Limits which scopes people may give to machines (docs/credentials.md, "Delegation ceiling"): only scopes of the
 * vocabulary, no wildcard, and only scopes whose permission the caller holds. The same rule for every kind of key.
 */
export function delegation<S extends string>(vocabulary: readonly S[], permissionFor: (scope: S) => Permission) {
  const isKnown = (scope: string): scope is S => (vocabulary as readonly string[]).includes(scope);

  /** Scopes once each, in the order given. */
  function decideScopes(wanted: readonly string[]): ScopeDecision<S> {
    const scopes: S[] = [];
    for (const scope of new Set(wanted)) {
      if (scope.includes("*")) return { refused: "WILDCARD_SCOPE" };
      if (!isKnown(scope)) return { refused: "UNSUPPORTED_SCOPE", scope };
      scopes.push(scope);
    }
    return { scopes };
  }

  /** The first scope that the holder of these permissions may not give. */
  const scopeNotHeld = (held: readonly string[], scopes: readonly string[]): string | undefined =>
    scopes.find((scope) => !isKnown(scope) || !grants(held, permissionFor(scope)));

  /** Refuses scopes that the caller does not hold, also when rotating a key that someone else made. */
  function refuseBeyondOwn(call: Caller, scopes: readonly string[]): void {
    const scope = scopeNotHeld(user(call).permissions, scopes);
    if (scope !== undefined) throw problem("SCOPE_DELEGATION_DENIED", { details: { scope } });
  }

  /** The scopes a caller asks for, checked against vocabulary and ceiling. */
  function delegable(call: Caller, wanted: readonly string[]): S[] {
    const decision = decideScopes(wanted);
    if ("scopes" in decision) {
      refuseBeyondOwn(call, decision.scopes);
      return decision.scopes;
    }
    if (decision.refused === "WILDCARD_SCOPE") throw problem("WILDCARD_SCOPE");
    throw problem("UNSUPPORTED_SCOPE", {
      message: `Unsupported API key scope: ${decision.scope}`,
      details: { supportedScopes: vocabulary },
    });
  }

  return { decideScopes, scopeNotHeld, refuseBeyondOwn, delegable };
}
