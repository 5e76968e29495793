import { join } from "node:path";
import type { Config } from "./config.ts";
import type { Store } from "./db/dialect/index.ts";
import { openPostgres } from "./db/dialect/postgres.ts";
import { openSqlite } from "./db/dialect/sqlite.ts";
import { serverKey } from "./db/server-key.ts";
import type { Log } from "./platform/log.ts";

/** Where the database is, and as whom. */
export type Place = Pick<Config, "databaseUrl" | "dataDir"> &
  Partial<Pick<Config, "production" | "systemDatabaseUrl" | "migrationDatabaseUrl" | "encryptionKey">>;

export function openStore(config: Place, log: Log): Store {
  const url = config.databaseUrl;
  // Following transactions slows every promise of the process down; the tests have followed them.
  const watch = !config.production;
  if (url !== undefined && /^postgres/.test(url)) {
    return openPostgres({
      url,
      systemUrl: config.systemDatabaseUrl,
      ownerUrl: config.migrationDatabaseUrl,
      serverKey: config.encryptionKey === undefined ? undefined : serverKey(config.encryptionKey),
      watch,
      onError: (error) => log.warn("database.connection_lost", { error }),
    });
  }
  return openSqlite(url?.slice("sqlite:".length) ?? join(config.dataDir, "rmm.db"), { watch });
}
