import type { ApiKeyScope } from "#contract/core/key-scopes";
import type { ApiKeyPrincipal } from "#server/access/principal";
import type { Call } from "#server/http/call";

/** The key that calls: nobody else reaches the tools. */
export function keyOf({ who }: Pick<Call, "who">): ApiKeyPrincipal {
  if (who.kind !== "apiKey") throw new Error("the endpoint let a caller through that is no key");
  return who;
}

export const holdsScope = ({ scopes }: ApiKeyPrincipal, scope: ApiKeyScope | null): boolean =>
  scope === null || scopes.includes(scope);
