import type { Schedule } from "#server/jobs/scheduler";
import { purgeEvents } from "./purge.ts";

export const schedules: readonly Schedule[] = [
  { name: "event-purge", cron: "10 * * * *", run: async (services) => void (await purgeEvents(services)) },
];
