/** What an API key may be allowed to do (contract 4 §1). Each is also the permission its owner must hold. */
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

/** What a partner service principal has unless something else is chosen: reading (specification 2). */
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
