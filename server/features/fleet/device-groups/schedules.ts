import type { Schedule } from "#server/jobs/scheduler";
import { forgetLog } from "./forget-log.ts";

export const schedules: readonly Schedule[] = [
  { name: "device-group-log.retention", cron: "5 4 * * *", run: async (services) => void (await forgetLog(services)) },
];
