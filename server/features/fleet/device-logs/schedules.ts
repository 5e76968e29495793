import type { Schedule } from "#server/jobs/scheduler";
import { dropOldLogs } from "./retention.ts";

export const schedules: readonly Schedule[] = [
  { name: "device-logs.retention", cron: "40 3 * * *", run: async (services) => void (await dropOldLogs(services)) },
];
