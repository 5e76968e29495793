import { asSystem } from "#server/db/as-system";
import type { Schedule } from "#server/jobs/scheduler";

/** Records whose memory has ended are answered to nobody. */
export const schedules: readonly Schedule[] = [
  {
    name: "idempotency.purge",
    cron: "*/15 * * * *",
    async run(services) {
      const records = asSystem(services, "purge expired").deleteFrom("idempotencyKeys");
      await records.where("expiresAt", "<=", services.clock.now()).execute();
    },
  },
];
