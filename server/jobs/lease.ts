import { asSystem } from "#server/db/as-system";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";

/**
 * Takes or renews a named lease: true while `holder` has it. One statement, so that two replicas
 * cannot both win; a holder that dies is followed after `ttlMs`.
 */
export async function holdLease(services: Services, name: string, holder: string, ttlMs: number): Promise<boolean> {
  const now = services.clock.now();
  const expiresAt = after(now, ttlMs);
  const row = await asSystem(services, "lead schedules")
    .insertInto("leases")
    .values({ name, holder, expiresAt })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ holder, expiresAt })
        .where((eb) => eb.or([eb("leases.holder", "=", holder), eb("leases.expiresAt", "<=", now)])),
    )
    .returning("holder")
    .executeTakeFirst();
  return row?.holder === holder;
}

/** Gives the lease up at once, so that another replica need not wait for it to expire. */
export async function releaseLease(services: Services, name: string, holder: string): Promise<void> {
  await asSystem(services, "lead schedules")
    .deleteFrom("leases")
    .where("name", "=", name)
    .where("holder", "=", holder)
    .execute();
}
