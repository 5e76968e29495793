import { AbortedError, TimeoutError } from "./errors.ts";

/** A signal that aborts when its parent does or when its time is up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds left; Infinity without a limit. */
  leftMs(): number;
  end(): void;
}

/** Longest delay a timer can hold. */
const TIMER_MAX_MS = 2_147_483_647;

/** The reason of the signal tells who stopped the work: `AbortedError` the caller, `TimeoutError` the clock. */
export function deadline(parent: AbortSignal | undefined, limitMs: number, operation: string): Deadline {
  const controller = new AbortController();
  const started = performance.now();
  const follow = () => controller.abort(asAbort(parent?.reason, operation));
  if (parent?.aborted) follow();
  else parent?.addEventListener("abort", follow, { once: true });
  const late = () =>
    controller.abort(
      new TimeoutError(`No answer within ${limitMs} ms`, { code: "TIMEOUT", outcome: "unknown", operation }),
    );
  const timer = limitMs <= TIMER_MAX_MS ? setTimeout(late, limitMs) : undefined;
  return {
    signal: controller.signal,
    leftMs: () => limitMs - (performance.now() - started),
    end: () => {
      clearTimeout(timer);
      parent?.removeEventListener("abort", follow);
    },
  };
}

const asAbort = (reason: unknown, operation: string) =>
  reason instanceof AbortedError || reason instanceof TimeoutError
    ? reason
    : new AbortedError("The call was aborted", { code: "ABORTED", outcome: "unknown", operation, cause: reason });
