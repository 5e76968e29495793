import { apiKeyScopes } from "#contract/core/key-scopes";
import { delegation } from "#server/access/delegation";

/** Giving an organization key a scope needs the permission of the same name (contract 4 §1). */
export const { decideScopes, scopeNotHeld, delegable, refuseBeyondOwn } = delegation(apiKeyScopes, (scope) => scope);
