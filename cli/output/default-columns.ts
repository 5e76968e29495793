/** The columns of a table when none are named, for a terminal and for a pipe alike. */
const byNoun: Record<string, readonly string[]> = {
  organizations: ["id", "slug", "name", "type", "status", "deviceCount", "createdAt"],
  partners: ["id", "slug", "name", "type", "plan", "status", "createdAt"],
  sites: ["id", "name", "timezone", "orgId", "deviceCount", "createdAt"],
  contacts: ["id", "name", "email", "phone", "roles", "isPrimary", "siteId"],
  "enrollment-keys": ["id", "name", "orgId", "siteId", "usageCount", "maxUsage", "expiresAt"],
  "api-keys": ["id", "name", "keyPrefix", "status", "scopes", "lastUsedAt", "expiresAt"],
  users: ["id", "email", "name", "status", "roleName", "orgAccess", "lastLoginAt"],
  devices: ["id", "hostname", "status", "osType", "orgName", "siteName", "lastSeenAt"],
  "audit-logs": ["id", "timestamp", "action", "result", "actorEmail", "resourceType", "resourceName"],
  sessions: ["id", "createdAt", "lastUsedAt", "ipAddress", "userAgent", "mfaVerified", "current"],
};

const FALLBACK = 7;
const bulky = /^(settings|ssoConfig|metadata|details|customFields|hardware|preferences)$/;

/** Chosen columns that the result really has; the first few plain fields for a noun that is not listed. */
export function defaultColumns(noun: string, fields: readonly string[]): readonly string[] {
  const chosen = (byNoun[noun] ?? []).filter((name) => fields.includes(name));
  if (chosen.length >= 3) return chosen;
  return fields.filter((name) => !bulky.test(name)).slice(0, FALLBACK);
}
