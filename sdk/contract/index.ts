import type { AnyEndpoint } from "./core/endpoint.ts";
import { auditLogs } from "./resources/audit/audit-logs.ts";
import { apiKeys } from "./resources/credentials/api-keys.ts";
import { enrollmentKeys } from "./resources/credentials/enrollment-keys.ts";
import { partnerApi } from "./resources/credentials/partner-api.ts";
import { partnerServicePrincipals } from "./resources/credentials/partner-service-principals.ts";
import { servicePrincipals } from "./resources/credentials/service-principals.ts";
import { agents } from "./resources/fleet/agents.ts";
import { devices } from "./resources/fleet/devices.ts";
import { users } from "./resources/people/users.ts";
import { serviceStatus } from "./resources/platform/service-status.ts";
import { loginBranding } from "./resources/sign-in/login-branding.ts";
import { mfa } from "./resources/sign-in/mfa.ts";
import { passwords } from "./resources/sign-in/passwords.ts";
import { sessions } from "./resources/sign-in/sessions.ts";
import { ssoDomains } from "./resources/sign-in/sso-domains.ts";
import { ssoLogins } from "./resources/sign-in/sso-logins.ts";
import { ssoProviders } from "./resources/sign-in/sso-providers.ts";
import { contacts } from "./resources/tenancy/contacts.ts";
import { organizations } from "./resources/tenancy/organizations.ts";
import { partners } from "./resources/tenancy/partners.ts";
import { sites } from "./resources/tenancy/sites.ts";

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
