import type { Schedule } from "#server/jobs/scheduler";
import { purgeNotifications } from "./purge.ts";

export const schedules: readonly Schedule[] = [
  { name: "notifications.purge", cron: "25 3 * * *", run: purgeNotifications },
];
