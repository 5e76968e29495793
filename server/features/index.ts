import type { Implementation } from "#server/http/implement";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import { contactRoutes } from "./contacts/routes.ts";
import { enrollmentKeyRoutes } from "./enrollment-keys/routes.ts";
import { organizationRoutes } from "./organizations/routes.ts";
import { partnerRoutes } from "./partners/routes.ts";
import { siteRoutes } from "./sites/routes.ts";

/** Every endpoint that is served; `server/test/conformance` holds it equal to the contract. */
export const implementations: readonly Implementation[] = [
  ...organizationRoutes,
  ...siteRoutes,
  ...partnerRoutes,
  ...enrollmentKeyRoutes,
  ...contactRoutes,
  ...apiKeyRoutes,
];
