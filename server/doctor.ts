import { randomUUID } from "node:crypto";
import { auditHandle } from "./audit/handle.ts";
import { missingFromOutbox } from "./audit/outbox.ts";
import { asSystem } from "./db/as-system.ts";
import type { Store } from "./db/dialect/index.ts";
import { isFilled } from "./db/dialect/json.ts";
import { type SqliteLibrary, SqliteUnavailable, sqliteLibrary } from "./db/dialect/sqlite-library.ts";
import { type DatabaseFacts, inspectDatabase } from "./db/inspect.ts";
import { type Trouble, troubleOf } from "./db/trouble.ts";
import type { Reader } from "./db/unit-of-work.ts";
import { probeWrites } from "./jobs/probe-writes.ts";
import { openStore, type Place } from "./open-store.ts";
import { silentLog } from "./platform/log.ts";
import { clientMayChooseAddress, readProxyTrust } from "./platform/proxy-trust.ts";
import type { Services } from "./services.ts";

export type { LoginFacts } from "./db/inspect-walls.ts";
export { troubleOf };

export interface InstallationFacts extends DatabaseFacts {
  /** Entries that left the audit outbox without reaching the log; undefined where it is not counted yet. */
  readonly missingAuditEntries: number | undefined;
  /** Partner principals in use that may come from named addresses alone; undefined before every migration is applied. */
  readonly allowLists: number | undefined;
  /** Why a row cannot be written, or `ok`; undefined before every migration is applied. */
  readonly writes: Trouble | "ok" | undefined;
}

/** What this Node opens SQLite files with, or why it cannot. */
export function examineSqlite(): SqliteLibrary | SqliteUnavailable {
  try {
    return sqliteLibrary();
  } catch (error) {
    if (error instanceof SqliteUnavailable) return error;
    throw error;
  }
}

/** What `rmm server doctor` asks of the database. Leaves it as it was; rejects when it cannot be reached. */
export async function examineDatabase(place: Place): Promise<InstallationFacts> {
  const store = openStore(place, silentLog);
  try {
    await store.requireOwnSessions();
    const facts = await inspectDatabase(store);
    const counted = facts.migrations?.missing.length === 0;
    const system = asSystem({ store, log: silentLog }, "inspect installation");
    return {
      ...facts,
      missingAuditEntries: counted ? await missingFromOutbox(auditHandle(system)) : undefined,
      allowLists: counted ? await countAllowLists(system) : undefined,
      writes: counted ? await writeTrouble(store) : undefined,
    };
  } finally {
    await store.close().catch(() => undefined);
  }
}

async function countAllowLists(db: Reader): Promise<number> {
  const { count } = await db
    .selectFrom("partnerServicePrincipals")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("status", "=", "active")
    .where((eb) => isFilled(eb.ref("sourceCidrs")))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Whether who reaches the server past its proxies chooses the address that allow-lists judge; false where it is malformed. */
export function trustsClients(trustProxyHeaders: string | undefined): boolean {
  const trust = readProxyTrust(trustProxyHeaders, undefined);
  return trust !== undefined && clientMayChooseAddress(trust);
}

const writeTrouble = (store: Store): Promise<Trouble | "ok"> =>
  probeWrites({ store, log: silentLog }, randomUUID()).then(() => "ok" as const, troubleOf);

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
