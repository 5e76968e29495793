import { RUN_JOB } from "#server/features/access-control/elevation-requests/tool-action";
import type { JobHandlers } from "#server/jobs/queue";
import { runApproved } from "./run-approved.ts";

export const jobs: JobHandlers = {
  [RUN_JOB]: (services, { id, orgId }) => runApproved(services, { id: String(id), orgId: String(orgId) }),
};
