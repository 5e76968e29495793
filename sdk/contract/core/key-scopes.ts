/**
 * Scopes of an API key (docs/credentials.md, "Scopes of an API key"). Each is also the permission that its owner must
 * hold.
 */
export const apiKeyScopes = [
  "devices:read",
  "devices:write",
  "devices:execute",
  "scripts:read",
  "scripts:execute",
  "alerts:read",
  "alerts:write",
  "tickets:read",
  "tickets:write",
  "sites:read",
  "audit:read",
] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** Default scopes of a partner service principal: all that read (docs/credentials.md, "Partner service principals"). */
export const partnerReadScopes = [
  "organizations:read",
  "sites:read",
  "devices:read",
  "inventory:read",
  "configuration:read",
  "scripts:read",
  "backup-configuration:read",
  "custom-fields:read",
] as const;

/** Granted only where they are asked for. */
export const partnerWriteScopes = ["organizations:write", "sites:write", "enrollment-keys:write"] as const;

export const partnerKeyScopes = [...partnerReadScopes, ...partnerWriteScopes] as const;
export type PartnerKeyScope = (typeof partnerKeyScopes)[number];
