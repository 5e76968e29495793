import type { Schedule } from "#server/jobs/scheduler";
import { giveUpLost } from "./give-up.ts";

export const schedules: readonly Schedule[] = [
  { name: "tool-executions.give-up", cron: "* * * * *", run: async (services) => void (await giveUpLost(services)) },
];
