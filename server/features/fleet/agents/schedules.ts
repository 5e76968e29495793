import type { Schedule } from "#server/jobs/scheduler";
import { forgetSourceIps } from "./forget-source-ips.ts";

export const schedules: readonly Schedule[] = [
  { name: "source-ip-memory", cron: "17 * * * *", run: async (services) => void (await forgetSourceIps(services)) },
];
