import type { Schedule } from "#server/jobs/scheduler";
import { forgetSourceIps } from "./forget-source-ips.ts";
import { thinSamples } from "./thin-samples.ts";

export const schedules: readonly Schedule[] = [
  { name: "source-ip-memory", cron: "17 * * * *", run: async (services) => void (await forgetSourceIps(services)) },
  { name: "device-metrics.retention", cron: "50 3 * * *", run: async (services) => void (await thinSamples(services)) },
];
