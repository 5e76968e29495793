import { asSystem } from "./db/as-system.ts";
import { type DatabaseFacts, inspectDatabase } from "./db/inspect.ts";
import { openStore, type Place } from "./open-store.ts";
import { silentLog } from "./platform/log.ts";
import type { Services } from "./services.ts";

export type { DatabaseFacts } from "./db/inspect.ts";

/** What `rmm server doctor` asks of the database. Changes nothing; rejects when it cannot be reached. */
export async function examineDatabase(place: Place): Promise<DatabaseFacts> {
  const store = openStore(place, silentLog);
  try {
    return await inspectDatabase(store);
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** Brings the schema up to date without starting a server; returns the migrations that ran. */
export async function migrateDatabase(place: Place): Promise<string[]> {
  const store = openStore(place, silentLog);
  try {
    return await store.migrate();
  } finally {
    await store.close();
  }
}

/** False for an installation without a user who can sign in. */
export async function hasUsers(services: Pick<Services, "store" | "log">): Promise<boolean> {
  const user = await asSystem(services, "inspect installation")
    .selectFrom("users")
    .select("id")
    .limit(1)
    .executeTakeFirst();
  return user !== undefined;
}
