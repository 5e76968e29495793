import type { Store } from "./dialect/index.ts";

/** Does what every request needs first: a connection of those that serve tenants, with a scope. */
export async function probeTenants(store: Store): Promise<void> {
  await store
    .connection("none")
    .selectNoFrom((eb) => eb.lit(1).as("one"))
    .execute();
}
