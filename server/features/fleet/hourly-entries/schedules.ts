import type { Schedule } from "#server/jobs/scheduler";
import { sumUpHours } from "./sum-up.ts";

export const schedules: readonly Schedule[] = [
  { name: "device-logs.sums", cron: "*/5 * * * *", run: async (services) => void (await sumUpHours(services)) },
];
