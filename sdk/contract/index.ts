import type { AnyEndpoint } from "./core/endpoint.ts";
import { agents } from "./resources/agents.ts";
import { apiKeys } from "./resources/api-keys.ts";
import { auditLogs } from "./resources/audit-logs.ts";
import { contacts } from "./resources/contacts.ts";
import { devices } from "./resources/devices.ts";
import { enrollmentKeys } from "./resources/enrollment-keys.ts";
import { loginBranding } from "./resources/login-branding.ts";
import { mfa } from "./resources/mfa.ts";
import { organizations } from "./resources/organizations.ts";
import { partnerApi } from "./resources/partner-api.ts";
import { partnerServicePrincipals } from "./resources/partner-service-principals.ts";
import { partners } from "./resources/partners.ts";
import { passwords } from "./resources/passwords.ts";
import { servicePrincipals } from "./resources/service-principals.ts";
import { serviceStatus } from "./resources/service-status.ts";
import { sessions } from "./resources/sessions.ts";
import { sites } from "./resources/sites.ts";
import { ssoDomains } from "./resources/sso-domains.ts";
import { ssoLogins } from "./resources/sso-logins.ts";
import { ssoProviders } from "./resources/sso-providers.ts";
import { users } from "./resources/users.ts";

/** Every endpoint of the product: `contract.apiKeys.rotate`. */
export const contract = {
  sessions,
  mfa,
  passwords,
  ssoLogins,
  partners,
  organizations,
  sites,
  contacts,
  enrollmentKeys,
  apiKeys,
  servicePrincipals,
  partnerServicePrincipals,
  partnerApi,
  ssoProviders,
  ssoDomains,
  loginBranding,
  users,
  agents,
  devices,
  auditLogs,
  serviceStatus,
};

export type Contract = typeof contract;

/** All endpoints, in the order in which they are mounted. */
export function allEndpoints(): AnyEndpoint[] {
  return Object.values(contract).flatMap((nouns) => Object.values(nouns) as AnyEndpoint[]);
}
