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

const CUT_OFF = "cut off ";

/** Remembers a run of a schedule that the stop of the server has cut off, until somebody takes it up. */
export async function noteCutOff(services: Services, schedule: string): Promise<void> {
  await asSystem(services, "lead schedules")
    .insertInto("leases")
    .values({ name: `${CUT_OFF}${schedule}`, holder: services.processId, expiresAt: services.clock.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The schedules whose runs were cut off. They are forgotten first: one that ends its process is not run forever. */
export async function takeCutOff(services: Services): Promise<string[]> {
  const rows = await asSystem(services, "lead schedules")
    .deleteFrom("leases")
    .where("name", "like", `${CUT_OFF}%`)
    .returning("name")
    .execute();
  return rows.map(({ name }) => name.slice(CUT_OFF.length));
}
