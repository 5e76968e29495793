import { AbortedError, RateLimitError, RmmError } from "#sdk/errors";
import { CliError } from "../errors/cli-error.ts";

/** A call that takes the signal is ended by Ctrl-C, as a read should be; one that does not is finished. */
export type Sendable<T> = (options: SendOptions) => PromiseLike<T>;

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Attempts by the SDK itself, which nobody would hear of. */
  readonly retries?: number;
}

/** Sends calls within the API's budget and with the patience that a long run needs. */
export interface Sender {
  /** `repeatable`: doing it twice is doing it once, as with a PATCH of absolute values. */
  send<T>(call: Sendable<T>, options?: { repeatable?: boolean }): Promise<T>;
  /** Sends a read, every attempt of it from here. */
  readonly read: <T>(call: Sendable<T>) => Promise<T>;
  /** Waits and says why, or rejects as interrupted. */
  pause(ms: number, why: string): Promise<void>;
  /** Calls sent so far. */
  readonly sent: number;
}

export interface SenderOptions {
  /** Requests in any 60 seconds; 0: as fast as the server answers. */
  readonly perMinute: number;
  readonly signal: AbortSignal;
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  readonly now?: () => number;
  /** Called before each wait that is worth a word: which of many of one reason are told is up to the teller. */
  readonly onWait?: (ms: number, why: string) => void;
  /** Longest wait that a server may ask for; beyond it the call fails. Default: however long. */
  readonly maxWaitMs?: number;
  /** Refusals for the rate that one call puts up with. */
  readonly rateLimitTries?: number;
}

const WINDOW_MS = 60_000;
const RATE_LIMIT_TRIES = 20;
/** A run whose process is gone is over within ten seconds, one that hangs after a minute. */
const IN_FLIGHT_TRIES = 75;
const REPEAT_TRIES = 3;
/** Shorter waits for the rate are told once they add up to this. */
const TOLD_FROM_MS = 5_000;
const IN_FLIGHT = `an earlier run's request is still in flight; at most ${IN_FLIGHT_TRIES} s`;

/** Waits before the server has to refuse; if it refuses anyway, waits as long as it says. */
export function paced({
  perMinute,
  signal,
  sleep = sleepUnlessAborted,
  now = Date.now,
  onWait,
  maxWaitMs = Number.POSITIVE_INFINITY,
  rateLimitTries = RATE_LIMIT_TRIES,
}: SenderOptions): Sender {
  const recent: number[] = [];
  let sent = 0;
  const pause = async (ms: number) => {
    await sleep(ms, signal);
    if (signal.aborted) throw interrupted();
  };
  const takeTurn = async () => {
    for (;;) {
      if (signal.aborted) throw interrupted();
      while (recent.length > 0 && now() - (recent[0] as number) >= WINDOW_MS) recent.shift();
      if (perMinute === 0 || recent.length < perMinute) break;
      const waitMs = (recent[0] as number) + WINDOW_MS - now();
      onWait?.(waitMs, `${perMinute} requests a minute are used up`);
      await pause(waitMs);
    }
    recent.push(now());
    sent++;
  };
  const attempts = async <T>(call: () => PromiseLike<T>, repeatable: boolean): Promise<T> => {
    let waitedMs = 0;
    for (let attempt = 1; ; attempt++) {
      await takeTurn();
      try {
        return await call();
      } catch (error) {
        const waitMs = waitOf(error, attempt, { repeatable, rateLimitTries });
        if (waitMs === undefined || waitMs > maxWaitMs) throw error;
        waitedMs += waitMs;
        if (isInFlight(error)) onWait?.(waitMs, IN_FLIGHT);
        else if (waitedMs >= TOLD_FROM_MS) onWait?.(waitMs, "the server asks to wait");
        await pause(waitMs);
      }
    }
  };
  return {
    get sent() {
      return sent;
    },
    pause: async (ms, why) => {
      onWait?.(ms, why);
      await pause(ms);
    },
    send: (call, { repeatable = false } = {}) => attempts(() => call({ signal }), repeatable),
    read: (call) => attempts(() => call({ signal, retries: 0 }), true),
  };
}

const isInFlight = (error: unknown): boolean => error instanceof RmmError && error.code === "IDEMPOTENCY_IN_FLIGHT";

/** How long to wait before the same call may be sent again; undefined where that is of no use or not safe. */
function waitOf(
  error: unknown,
  attempt: number,
  { repeatable, rateLimitTries }: { repeatable: boolean; rateLimitTries: number },
): number | undefined {
  if (!(error instanceof RmmError) || error instanceof AbortedError) return undefined;
  if (error instanceof RateLimitError) return attempt < rateLimitTries ? (error.retryAfterMs ?? 1_000) : undefined;
  if (isInFlight(error)) return attempt < IN_FLIGHT_TRIES ? 1_000 : undefined;
  const again = repeatable && (error.retryable || error.outcome === "unknown");
  return again && attempt < REPEAT_TRIES ? (error.retryAfterMs ?? 500 * 2 ** (attempt - 1)) : undefined;
}

export const interrupted = (): CliError => new CliError("Interrupted", { exit: "interrupted", code: "INTERRUPTED" });

export const isInterruption = (error: unknown): boolean => error instanceof CliError && error.code === "INTERRUPTED";

function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
