import type { Implementation } from "#server/http/implement";
import { auditLogRoutes } from "./audit/audit-logs/routes.ts";
import { apiKeyRoutes } from "./credentials/api-keys/routes.ts";
import { enrollmentKeyRoutes } from "./credentials/enrollment-keys/routes.ts";
import { partnerApiRoutes } from "./credentials/partner-api/routes.ts";
import { partnerServicePrincipalRoutes } from "./credentials/partner-service-principals/routes.ts";
import { servicePrincipalRoutes } from "./credentials/service-principals/routes.ts";
import { agentRoutes } from "./fleet/agents/routes.ts";
import { deviceRoutes } from "./fleet/devices/routes.ts";
import { userRoutes } from "./people/users/routes.ts";
import { serviceStatusRoutes } from "./platform/service-status/routes.ts";
import { loginBrandingRoutes } from "./sign-in/login-branding/routes.ts";
import { mfaRoutes } from "./sign-in/mfa/routes.ts";
import { passwordRoutes } from "./sign-in/passwords/routes.ts";
import { sessionRoutes } from "./sign-in/sessions/routes.ts";
import { ssoDomainRoutes } from "./sign-in/sso-domains/routes.ts";
import { ssoLoginRoutes } from "./sign-in/sso-logins/routes.ts";
import { ssoProviderRoutes } from "./sign-in/sso-providers/routes.ts";
import { contactRoutes } from "./tenancy/contacts/routes.ts";
import { organizationRoutes } from "./tenancy/organizations/routes.ts";
import { partnerRoutes } from "./tenancy/partners/routes.ts";
import { siteRoutes } from "./tenancy/sites/routes.ts";

/** Every endpoint that is served; `server/test/conformance` holds it equal to the contract. */
export const implementations: readonly Implementation[] = [
  ...sessionRoutes,
  ...mfaRoutes,
  ...passwordRoutes,
  ...ssoLoginRoutes,
  ...userRoutes,
  ...organizationRoutes,
  ...siteRoutes,
  ...partnerRoutes,
  ...enrollmentKeyRoutes,
  ...contactRoutes,
  ...apiKeyRoutes,
  ...servicePrincipalRoutes,
  ...partnerServicePrincipalRoutes,
  ...partnerApiRoutes,
  ...ssoProviderRoutes,
  ...ssoDomainRoutes,
  ...loginBrandingRoutes,
  ...agentRoutes,
  ...deviceRoutes,
  ...auditLogRoutes,
  ...serviceStatusRoutes,
];
