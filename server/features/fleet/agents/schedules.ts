import type { Schedule } from "#server/jobs/scheduler";
import { forgetSourceIps } from "./forget-source-ips.ts";
import { forgetReplaced } from "./replaced-tokens.ts";
import { thinSamples } from "./thin-samples.ts";

export const schedules: readonly Schedule[] = [
  { name: "source-ip-memory", cron: "17 * * * *", run: async (services) => void (await forgetSourceIps(services)) },
  { name: "replaced-tokens", cron: "19 * * * *", run: async (services) => void (await forgetReplaced(services)) },
  { name: "device-metrics.retention", cron: "50 3 * * *", run: async (services) => void (await thinSamples(services)) },
];
