import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** Addresses whose next appearance is audited again need no memory. Returns how many were forgotten. */
export async function forgetSourceIps(services: Services): Promise<number> {
  const gone = await asSystem(services, "purge expired")
    .deleteFrom("deviceSourceIps")
    .where("auditedAt", "<=", after(services.clock.now(), -DAY))
    .executeTakeFirst();
  return Number(gone.numDeletedRows);
}
