import type { Schedule } from "#server/jobs/scheduler";
import { purgeDeliveries } from "./purge.ts";

export const schedules: readonly Schedule[] = [
  { name: "webhook-deliveries.retention", cron: "20 4 * * *", run: (services) => purgeDeliveries(services) },
];
