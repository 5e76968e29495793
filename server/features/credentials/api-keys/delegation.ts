import { apiKeyScopes } from "#contract/core/key-scopes";
import { delegation } from "#server/access/delegation";

/** Giving an API key a scope needs the permission of the same name (docs/credentials.md, "Delegation ceiling"). */
export const { decideScopes, scopeNotHeld, delegable, refuseBeyondOwn } = delegation(apiKeyScopes, (scope) => scope);
