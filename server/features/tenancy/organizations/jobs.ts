import type { JobHandlers } from "#server/jobs/queue";
import type { Services } from "#server/services";
import { finishOne } from "./finish-winding-down.ts";

export const jobs: JobHandlers = {
  "organizations.finish-winding-down": async (services: Services, { orgId }) =>
    void (await finishOne(services, orgId as string)),
};
