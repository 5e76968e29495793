import { asSystem } from "#server/db/as-system";
import { purgeChallenges } from "#server/features/people/core/approver-challenges";
import type { Schedule } from "#server/jobs/scheduler";

export const schedules: readonly Schedule[] = [
  {
    name: "approver-devices.purge-challenges",
    cron: "*/15 * * * *",
    run: (services) => purgeChallenges(asSystem(services, "purge expired"), services.clock.now()),
  },
];
