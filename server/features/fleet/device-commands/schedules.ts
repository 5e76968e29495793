import type { Schedule } from "#server/jobs/scheduler";
import { dropUnclaimedAnswers, endOverdueCommands, forgetCommands } from "./sweep.ts";

export const schedules: readonly Schedule[] = [
  {
    name: "device-commands.overdue",
    cron: "*/30 * * * * *",
    run: async (services) => {
      await endOverdueCommands(services);
      await dropUnclaimedAnswers(services);
    },
  },
  {
    name: "device-commands.retention",
    cron: "40 * * * *",
    run: async (services) => void (await forgetCommands(services)),
  },
];
