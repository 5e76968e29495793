import type { EndpointInfo } from "./endpoint-info.ts";

/** Timers that should wait longer than 24 days fire at once, and there is no date for every number. */
const LONGEST_MS = 24 * 3_600_000;

/** Milliseconds a `Retry-After` header asks for, a day at most: seconds or an HTTP date; undefined when it says neither. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  const ms = askedFor(header, nowMs);
  return ms === undefined ? undefined : Math.min(ms, LONGEST_MS);
}

function askedFor(header: string | null, nowMs: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  if (!/^[A-Za-z]{3}/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

const FIRST_MS = 250;
const CAP_MS = 8_000;

/** Exponential backoff with full jitter; `attempt` counts from 1. */
export const backoffMs = (attempt: number, random: () => number): number =>
  Math.floor(random() * Math.min(CAP_MS, FIRST_MS * 2 ** (attempt - 1)));

/**
 * A second attempt must not repeat an effect: GET, PUT and DELETE are safe, a POST only when the contract
 * says so or the call carries a key.
 */
export const isRepeatable = (endpoint: EndpointInfo, idempotencyKey: string | undefined): boolean =>
  endpoint.method === "GET" ||
  endpoint.method === "PUT" ||
  endpoint.method === "DELETE" ||
  (endpoint.method === "POST" && (endpoint.idempotent || idempotencyKey !== undefined));

/** Shared by all calls of a process, so that an outage is not answered with a storm of retries. */
export interface RetryBudget {
  /** Each first attempt adds a fraction of a retry. */
  earn(): void;
  /** Takes a retry; false if none is left. */
  spend(): boolean;
}

/** `capacity` retries at once, and one more for each `1 / share` calls. */
export function retryBudget({ capacity = 20, share = 0.2 } = {}): RetryBudget {
  let left = capacity;
  return {
    earn: () => {
      left = Math.min(capacity, left + share);
    },
    spend: () => {
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}

/** The budget every client uses unless it is given its own. */
export const processBudget: RetryBudget = retryBudget();

/** Sleeps; rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
