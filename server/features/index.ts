import type { Implementation } from "#server/http/implement";
import { agentRoutes } from "./agents/routes.ts";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import { auditLogRoutes } from "./audit-logs/routes.ts";
import { contactRoutes } from "./contacts/routes.ts";
import { deviceRoutes } from "./devices/routes.ts";
import { enrollmentKeyRoutes } from "./enrollment-keys/routes.ts";
import { loginBrandingRoutes } from "./login-branding/routes.ts";
import { mfaRoutes } from "./mfa/routes.ts";
import { organizationRoutes } from "./organizations/routes.ts";
import { partnerApiRoutes } from "./partner-api/routes.ts";
import { partnerServicePrincipalRoutes } from "./partner-service-principals/routes.ts";
import { partnerRoutes } from "./partners/routes.ts";
import { passwordRoutes } from "./passwords/routes.ts";
import { servicePrincipalRoutes } from "./service-principals/routes.ts";
import { serviceStatusRoutes } from "./service-status/routes.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { siteRoutes } from "./sites/routes.ts";
import { ssoDomainRoutes } from "./sso-domains/routes.ts";
import { ssoLoginRoutes } from "./sso-logins/routes.ts";
import { ssoProviderRoutes } from "./sso-providers/routes.ts";
import { userRoutes } from "./users/routes.ts";

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
