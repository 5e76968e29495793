import type { Schedule } from "#server/jobs/scheduler";
import { dropOldLogs } from "./retention.ts";
import { sumUpSubmissions } from "./sum-up.ts";

export const schedules: readonly Schedule[] = [
  { name: "device-logs.sums", cron: "*/5 * * * *", run: async (services) => void (await sumUpSubmissions(services)) },
  { name: "device-logs.retention", cron: "40 3 * * *", run: async (services) => void (await dropOldLogs(services)) },
];
