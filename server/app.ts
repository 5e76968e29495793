import { accessTokens } from "./access/access-token.ts";
import { KeyUsage } from "./access/key-usage.ts";
import { KnownKeys } from "./access/known-keys.ts";
import { RateLimiter } from "./access/rate-limit.ts";
import { refusalLog } from "./audit/keeper.ts";
import type { Config } from "./config.ts";
import type { Store } from "./db/dialect/index.ts";
import { roomHooks } from "./generated/hooks.ts";
import { openStore } from "./open-store.ts";
import { type Clock, systemClock } from "./platform/clock.ts";
import { type GuardOptions, guardedFetch } from "./platform/guarded-fetch.ts";
import { guardedPost } from "./platform/guarded-post.ts";
import { inTurns, jsonLog, type Log } from "./platform/log.ts";
import { type Mailer, mailer } from "./platform/mail.ts";
import { processMetrics } from "./platform/metrics.ts";
import { type Names, names } from "./platform/names.ts";
import { isOwnNetwork } from "./platform/public-address.ts";
import { type Random, secureRandom } from "./platform/random.ts";
import { Turns } from "./platform/turns.ts";
import { vault } from "./platform/vault.ts";
import { joinHooks } from "./room-hooks.ts";
import type { Services } from "./services.ts";

/** What a test may put in place of the real thing. */
export interface Seams {
  clock?: Clock;
  random?: Random;
  log?: Log;
  mailer?: Mailer;
  store?: Store;
  /** Certificates, and what counts as public, for requests to addresses that tenants choose. */
  outbound?: Pick<GuardOptions, "ca" | "isPublic">;
}

const stderrLines = inTurns((text) => process.stderr.write(text));

/** What is set once the writer of the audit log, and the runner of events, have started. */
export interface Wakes {
  wakeAuditWriter: () => void;
  wakeEvents: () => void;
  eventConsumers: readonly string[];
}

/** config → dependencies. */
export function buildServices(config: Config, seams: Seams = {}): Services & Wakes {
  const clock = seams.clock ?? systemClock;
  const random = seams.random ?? secureRandom(clock);
  const log = seams.log ?? jsonLog(config.logLevel, stderrLines);
  const resolver = names(config.dnsResolver);
  const store = seams.store ?? openStore(config, log);
  const metrics = processMetrics();
  const hooks = joinHooks(roomHooks);
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
    keyUsage: new KeyUsage({ store, log }, hooks),
    hooks,
    refusals: refusalLog({ store, clock, log, metrics }),
    mailer: seams.mailer ?? mailer(config),
    names: resolver,
    outbound: guardedFetch({
      ...seams.outbound,
      names: resolver,
      allowPrivate: config.ssoAllowPrivateNetwork,
      proxies: config.proxies,
    }),
    webhookTargets: webhookTargets(config, resolver, seams.outbound),
    metrics,
    wakeAuditWriter: () => undefined,
    wakeEvents: () => undefined,
    eventConsumers: [],
  };
}

/** The contract's bounds of one attempt (docs/integrations.md, "Sending"). */
const ATTEMPT = { timeoutMs: 30_000, maxBytes: 64 * 1024 };

function webhookTargets(config: Config, resolver: Names, seams: Seams["outbound"]): Services["webhookTargets"] {
  const options = { ...seams, ...ATTEMPT, names: resolver, proxies: config.proxies };
  const onPublic = guardedPost({ ...options, allowPrivate: false });
  return {
    onPublic,
    anywhere: config.webhookAllowPrivate
      ? guardedPost({ ...options, allowPrivate: true, isPrivate: isOwnNetwork })
      : onPublic,
  };
}
