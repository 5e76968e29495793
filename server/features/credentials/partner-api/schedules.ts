import type { Schedule } from "#server/jobs/scheduler";
import { forgetRemovals } from "./forget-removals.ts";

export const schedules: readonly Schedule[] = [
  {
    name: "exports.forget-removals",
    cron: "20 3 * * *",
    run: async (services) => void (await forgetRemovals(services)),
  },
];
