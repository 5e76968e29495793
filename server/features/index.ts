import type { Implementation } from "#server/http/implement";
import { organizationRoutes } from "./organizations/routes.ts";

/** Every endpoint that is served; `server/test/conformance` holds it equal to the contract. */
export const implementations: readonly Implementation[] = [...organizationRoutes];
