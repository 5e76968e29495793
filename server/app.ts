import { join } from "node:path";
import { accessTokens } from "./access/access-token.ts";
import { KnownKeys } from "./access/key-throttle.ts";
import { KeyUsage } from "./access/key-usage.ts";
import { RateLimiter } from "./access/rate-limit.ts";
import { refusalLog } from "./audit/keeper.ts";
import type { Config } from "./config.ts";
import type { Store } from "./db/dialect/index.ts";
import { openPostgres } from "./db/dialect/postgres.ts";
import { openSqlite } from "./db/dialect/sqlite.ts";
import { type Clock, systemClock } from "./platform/clock.ts";
import { type GuardOptions, guardedFetch } from "./platform/guarded-fetch.ts";
import { inTurns, jsonLog, type Log } from "./platform/log.ts";
import { type Mailer, mailer } from "./platform/mail.ts";
import { processMetrics } from "./platform/metrics.ts";
import { names } from "./platform/names.ts";
import { type Random, secureRandom } from "./platform/random.ts";
import { Turns } from "./platform/turns.ts";
import { vault } from "./platform/vault.ts";
import type { Services } from "./services.ts";

/** What a test may put in place of the real thing. */
export interface Seams {
  clock?: Clock;
  random?: Random;
  log?: Log;
  mailer?: Mailer;
  store?: Store;
  /** Certificates, and what counts as public, for requests to identity providers. */
  outbound?: Pick<GuardOptions, "ca" | "isPublic">;
}

const stderrLines = inTurns((text) => process.stderr.write(text));

/** config → dependencies. `wakeAuditWriter` is set when the writer starts. */
export function buildServices(config: Config, seams: Seams = {}): Services & { wakeAuditWriter: () => void } {
  const clock = seams.clock ?? systemClock;
  const random = seams.random ?? secureRandom(clock);
  const log = seams.log ?? jsonLog(config.logLevel, stderrLines);
  const resolver = names(config.dnsResolver);
  const store = seams.store ?? openStore(config, log);
  const metrics = processMetrics();
  return {
    config,
    processId: random.uuid(),
    store,
    clock,
    random,
    log,
    vault: vault(config.encryptionKey, random),
    accessTokens: accessTokens(config.jwtSecret, clock),
    limiter: new RateLimiter(store, clock),
    knownKeys: new KnownKeys(),
    turns: new Turns(),
    keyUsage: new KeyUsage(store, log),
    refusals: refusalLog({ store, clock, log, metrics }),
    mailer: seams.mailer ?? mailer(config),
    names: resolver,
    outbound: guardedFetch({ ...seams.outbound, names: resolver, allowPrivate: config.ssoAllowPrivateNetwork }),
    metrics,
    wakeAuditWriter: () => undefined,
  };
}

/** Where the database is. */
type Place = Pick<Config, "databaseUrl" | "dataDir"> & Partial<Pick<Config, "production">>;

export function openStore(config: Place, log: Log): Store {
  const url = config.databaseUrl;
  // Following transactions slows every promise of the process down; the tests have followed them.
  const watch = !config.production;
  if (url !== undefined && /^postgres/.test(url)) {
    return openPostgres({ url, watch, onError: (error) => log.warn("database.connection_lost", { error }) });
  }
  return openSqlite(url?.slice("sqlite:".length) ?? join(config.dataDir, "rmm.db"), { watch });
}
