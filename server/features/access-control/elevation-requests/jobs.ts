import type { JobHandlers } from "#server/jobs/queue";
import { cleanUpSoon } from "./clean-up.ts";

export const jobs: JobHandlers = {
  "elevation-requests.clean-up": (services, { id, orgId }) =>
    cleanUpSoon(services, { id: String(id), orgId: String(orgId) }),
};
