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
  | "authorizationUrl"
  | "tokenUrl"
  | "entityId"
  | "ssoUrl"
  | "certificate"
>;

/** Fields that a provider lacks to be active (docs/single-sign-on.md, "Provider status"). */
export function missingForActive(provider: Configured): string[] {
  const { issuer, clientId, clientSecretSealed: clientSecret, authorizationUrl, tokenUrl } = provider;
  const { entityId, ssoUrl, certificate } = provider;
  const needed =
    provider.type === "oidc"
      ? { issuer, clientId, clientSecret, authorizationUrl, tokenUrl }
      : { entityId, ssoUrl, certificate };
  return Object.entries(needed)
    .filter(([, value]) => value === null)
    .map(([name]) => name);
}

/** An issuer that was not asked before, or not as what it is now, must answer before it is saved. */
export function needsDiscovery(
  before: Pick<ProviderRow, "type" | "issuer">,
  after: Pick<ProviderRow, "type" | "issuer">,
): after is { type: "oidc"; issuer: string } {
  if (after.type !== "oidc" || after.issuer === null) return false;
  return after.issuer !== before.issuer || before.type !== "oidc";
}
