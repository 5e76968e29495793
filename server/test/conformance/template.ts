import { seedTenants, seedWorld, type Tenant, type World } from "#fixtures/world";
import { bootstrap } from "#server/bootstrap";
import type { Template } from "../migrated-database.ts";
import { noteChanges } from "./changes.ts";

/** Tenants seeded at once, to save statements. */
export const BATCH = 12;

export const freshNames = (from: number, count = BATCH): string[] =>
  Array.from({ length: count }, (_, n) => `fresh-${from + n}`);

export interface KnownOfSweep {
  readonly world: World;
  /** The first tenants that no test has used. */
  readonly fresh: Tenant[];
}

/** What every sweep begins with. */
export const templateWith = (count: number): Template => ({
  name: `swept_${count}`,
  async fill(services): Promise<KnownOfSweep> {
    await bootstrap(services);
    const db = services.store.connection("system");
    const world = await seedWorld(db, services);
    const fresh = await seedTenants(db, services, freshNames(0, count));
    await noteChanges(services.store);
    return { world, fresh };
  },
});
