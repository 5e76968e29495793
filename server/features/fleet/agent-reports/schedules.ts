import type { Schedule } from "#server/jobs/scheduler";
import { forgetTitles } from "./forget-titles.ts";

export const schedules: readonly Schedule[] = [
  {
    name: "software-titles.retention",
    cron: "25 4 * * *",
    run: async (services) => void (await forgetTitles(services)),
  },
];
