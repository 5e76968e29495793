import { type EventKind, eventKinds } from "#contract/core/events";
import type { RetryPolicy } from "#server/db/tables/integrations";

/** What tests are sent as, whatever they sample. */
export const TEST_EVENT = "webhook.test";

export const defaultPolicy: RetryPolicy = {
  maxRetries: 5,
  initialDelayMs: 1_000,
  backoffMultiplier: 2,
  maxDelayMs: 300_000,
};

export const webhooksPerOrganization = { name: "webhooks", max: 20 } as const;
export const testsPerMinute = { name: "webhook-test", max: 10, windowSeconds: 60 } as const;
/** A webhook for which more wait has a receiver that will not catch up. */
export const WAITING_MAX = 10_000;
export const FAILURES_MAX = 20;

/** A kind, a prefix with `.*`, or `*` for all. */
export function matches(patterns: readonly string[], kind: EventKind): boolean {
  return patterns.some((pattern) => isMatch(pattern, kind));
}

const isMatch = (pattern: string, kind: string): boolean =>
  pattern === "*" || pattern === kind || (pattern.endsWith(".*") && kind.startsWith(pattern.slice(0, -1)));

/** Those that no kind of event matches. */
export const unknownPatterns = (patterns: readonly string[]): string[] =>
  patterns.filter((pattern) => !eventKinds.some((kind) => isMatch(pattern, kind)));

/** Before the n-th retry (1 = the first), 10 % more or less by `chance` of 0 to 1. */
export function retryDelayMs(policy: RetryPolicy, retry: number, chance: number): number {
  const { initialDelayMs, backoffMultiplier, maxDelayMs } = policy;
  const plain = Math.min(initialDelayMs * backoffMultiplier ** (retry - 1), maxDelayMs);
  return Math.round(plain * (0.9 + 0.2 * chance));
}

const reserved = new Set(
  "host user-agent accept-encoding expect connection keep-alive proxy-authenticate proxy-authorization proxy-connection"
    .concat(" te trailer trailers transfer-encoding upgrade")
    .split(" "),
);

/** Headers that a delivery sets itself, or that concern the connection. */
export const isReservedHeader = (key: string): boolean =>
  reserved.has(key.toLowerCase()) || /^(content|x-webhook)-/i.test(key);
