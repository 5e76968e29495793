/**
 * What an id can name, and the noun that lists such rows. The command resolves names through it, and the sweeps put
 * another tenant's row in its place.
 */
export const refs = {
  partner: "partners",
  organization: "organizations",
  site: "sites",
  contact: "contacts",
  user: "users",
  role: "roles",
  membership: "memberships",
  session: "sessions",
  notification: "notifications",
  "api-key": "api-keys",
  "service-principal": "service-principals",
  "partner-service-principal": "partner-service-principals",
  "partner-key": "partner-service-principals",
  "enrollment-key": "enrollment-keys",
  "sso-provider": "sso-providers",
  "sso-domain": "sso-domains",
  device: "devices",
  "custom-field": "custom-fields",
  patch: "patches",
  "device-command": "device-commands",
  "device-group": "device-groups",
  "psa-connection": "psa-connections",
  "audit-log": "audit-logs",
  webhook: "webhooks",
  "webhook-delivery": "webhooks",
} as const;

export type RefName = keyof typeof refs;
