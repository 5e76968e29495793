import type { AccessTokens } from "./access/access-token.ts";
import type { KeyUsage } from "./access/key-usage.ts";
import type { KnownKeys } from "./access/known-keys.ts";
import type { RateLimiter } from "./access/rate-limit.ts";
import type { RefusalLog } from "./audit/refusal-log.ts";
import type { Config } from "./config.ts";
import type { Store } from "./db/dialect/index.ts";
import type { Clock } from "./platform/clock.ts";
import type { GuardedFetch } from "./platform/guarded-fetch.ts";
import type { GuardedPost } from "./platform/guarded-post.ts";
import type { Log } from "./platform/log.ts";
import type { Mailer } from "./platform/mail.ts";
import type { Metrics } from "./platform/metrics.ts";
import type { Names } from "./platform/names.ts";
import type { Random } from "./platform/random.ts";
import type { Turns } from "./platform/turns.ts";
import type { Vault } from "./platform/vault.ts";
import type { Hooks } from "./room-hooks.ts";

/** What the server is made of; built once at start (`main.ts`) or by the test harness. */
export interface Services {
  readonly config: Config;
  /** Names this process among those that share the database. */
  readonly processId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly vault: Vault;
  readonly accessTokens: AccessTokens;
  readonly limiter: RateLimiter;
  readonly knownKeys: KnownKeys;
  readonly turns: Turns;
  /** Counts uses of keys; flushed when the server stops. */
  readonly keyUsage: KeyUsage;
  /** Records refused requests after their answers. */
  readonly refusals: RefusalLog;
  readonly mailer: Mailer;
  /** Asks the domain name system. */
  readonly names: Names;
  /** Reaches identity providers, whose addresses tenants choose. */
  readonly outbound: GuardedFetch;
  /**
   * Reaches webhooks: those an organization wrote, and those its partner or the installation wrote, which may lie in the
   * operator's network where `WEBHOOK_ALLOW_PRIVATE` says so.
   */
  readonly webhookTargets: { readonly onPublic: GuardedPost; readonly anywhere: GuardedPost };
  readonly metrics: Metrics;
  /** Tells every room of an event. */
  readonly hooks: Hooks;
  /** Tells the audit writer that the outbox has work. */
  readonly wakeAuditWriter: () => void;
  /** Tells the runner of events that some were committed. */
  readonly wakeEvents: () => void;
  /** Names of the consumers of events that this version has. */
  readonly eventConsumers: readonly string[];
}
