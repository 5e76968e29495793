import type { Schedule } from "#server/jobs/scheduler";
import { evaluateDue } from "./due.ts";
import { forgetLog } from "./forget-log.ts";
import { sweepGroups } from "./sweep-groups.ts";

/**
 * What has changed is looked at within ten seconds (docs/device-groups.md, "Dynamic groups"), and sweeps are spread over
 * the minutes.
 */
export const schedules: readonly Schedule[] = [
  { name: "device-groups.due", cron: "*/4 * * * * *", run: async (services) => void (await evaluateDue(services)) },
  { name: "device-groups.sweep", cron: "30 * * * * *", run: async (services) => void (await sweepGroups(services)) },
  { name: "device-group-log.retention", cron: "5 4 * * *", run: async (services) => void (await forgetLog(services)) },
];
