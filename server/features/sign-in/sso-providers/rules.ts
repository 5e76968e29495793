import type { AttributeMapping } from "#server/db/tables/sign-in";
import type { Preset } from "#server/sso-presets";
import type { ProviderRow } from "./find-active-provider.ts";

export const DEFAULT_SCOPES = "openid profile email";
const DEFAULT_MAPPING: AttributeMapping = { email: "email", name: "name" };

/** Scopes and attribute mapping where none are given (docs/single-sign-on.md, "Identity providers"). */
export function defaultsOf(preset: Preset | undefined): { scopes: string; attributeMapping: AttributeMapping } {
  return {
    scopes: preset?.scopes ?? DEFAULT_SCOPES,
    attributeMapping: preset?.attributeMapping ?? DEFAULT_MAPPING,
  };
}

type Configured = Pick<
  ProviderRow,
  | "type"
  | "issuer"
  | "clientId"
  | "clientSecretSealed"
  | "requestedScopes"
  | "authorizationUrl"
  | "tokenUrl"
  | "userInfoUrl"
  | "jwksUrl"
  | "entityId"
  | "ssoUrl"
  | "certificate"
>;

/** Fields that a provider lacks to be active (docs/single-sign-on.md, "Provider status"). */
export function missingForActive(provider: Configured): string[] {
  const { issuer, clientId, clientSecretSealed: clientSecret, authorizationUrl, tokenUrl } = provider;
  const { entityId, ssoUrl, certificate, userInfoUrl, jwksUrl } = provider;
  // An ID token is believed by its signature alone; without one UserInfo says who it is.
  const proof = provider.requestedScopes.split(/\s+/).includes("openid") ? { jwksUrl } : { userInfoUrl };
  const needed =
    provider.type === "oidc"
      ? { issuer, clientId, clientSecret, authorizationUrl, tokenUrl, ...proof }
      : { entityId, ssoUrl, certificate };
  return Object.entries(needed)
    .filter(([, value]) => value === null)
    .map(([name]) => name);
}

/**
 * Whether the secret would go to another party than it was entered for: whoever may change the addresses could otherwise
 * have a secret sent to them that is never shown (docs/single-sign-on.md, "Client secret"). A first token address on the
 * issuer's own host is no other party.
 */
export function leadsElsewhere(
  before: Pick<ProviderRow, "issuer" | "tokenUrl">,
  after: Pick<ProviderRow, "issuer" | "tokenUrl">,
): boolean {
  if (before.issuer !== after.issuer) return true;
  if (before.tokenUrl === after.tokenUrl) return false;
  return before.tokenUrl !== null || originOf(after.tokenUrl) !== originOf(after.issuer);
}

const originOf = (url: string | null) => (url !== null && URL.canParse(url) ? new URL(url).origin : url);

/** An issuer that was not asked before, or not as what it is now, must answer before it is saved. */
export function needsDiscovery(
  before: Pick<ProviderRow, "type" | "issuer">,
  after: Pick<ProviderRow, "type" | "issuer">,
): after is { type: "oidc"; issuer: string } {
  if (after.type !== "oidc" || after.issuer === null) return false;
  return after.issuer !== before.issuer || before.type !== "oidc";
}
