import type { CommandSpec } from "../manifest.ts";

/** The columns of a table when none are named, for a terminal and for a pipe alike. */
const byCommand: Record<string, readonly string[]> = {
  organizations: ["id", "slug", "name", "type", "status", "deviceCount", "createdAt"],
  partners: ["id", "slug", "name", "type", "plan", "status", "createdAt"],
  sites: ["id", "name", "timezone", "orgId", "deviceCount", "createdAt"],
  contacts: ["id", "name", "email", "phone", "roles", "isPrimary", "siteId"],
  "enrollment-keys": ["id", "name", "orgId", "siteId", "usageCount", "maxUsage", "expiresAt"],
  "api-keys": ["id", "name", "keyPrefix", "status", "scopes", "lastUsedAt", "expiresAt"],
  "sso-providers": ["id", "name", "type", "status", "issuer", "enforceSSO", "orgId"],
  "sso-domains": ["id", "domain", "verified", "recordName", "recordValue", "lastCheckedAt", "orgId"],
  users: ["id", "email", "name", "status", "roleName", "orgAccess", "lastLoginAt"],
  devices: ["id", "hostname", "status", "osType", "orgName", "siteName", "lastSeenAt"],
  "audit-logs": ["timestamp", "action", "result", "user.email", "resource.type", "resource.name", "id"],
  "audit-logs list": ["timestamp", "action", "resource", "user.email", "ipAddress", "id"],
  "audit-logs anchors": [
    "anchorSeq",
    "chainKind",
    "chainId",
    "headChainSeq",
    "entryCount",
    "anchoredAt",
    "signingKeyId",
  ],
  sessions: ["id", "createdAt", "lastUsedAt", "ipAddress", "userAgent", "mfaVerified", "current"],
};

const FALLBACK = 7;
const bulky = /^(settings|ssoConfig|metadata|details|customFields|hardware|preferences)$/;

/** Chosen columns that the result really has; the first few plain fields for a command that is not listed. */
export function defaultColumns({ noun, name, fields }: CommandSpec): readonly string[] {
  const listed = byCommand[`${noun} ${name}`] ?? byCommand[noun] ?? [];
  const chosen = listed.filter((column) => fields.includes(column.split(".")[0]!));
  if (chosen.length >= 3) return chosen;
  return fields.filter((field) => !bulky.test(field)).slice(0, FALLBACK);
}
