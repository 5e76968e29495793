import type { Schedule } from "#server/jobs/scheduler";
import { finishWindingDown } from "./finish-winding-down.ts";

export const schedules: readonly Schedule[] = [
  {
    name: "organizations.winding-down",
    cron: "* * * * *",
    run: async (services) => void (await finishWindingDown(services)),
  },
];
