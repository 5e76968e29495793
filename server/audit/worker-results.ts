import { startWorker } from "../platform/start-worker.ts";
import { keepIdle, takeIdle } from "./idle-threads.ts";

/**
 * Gives a thread a job and reads the `count` results it posts, in order; its error is thrown here. One that verified
 * to the end waits a moment for more. Any other ends with its last result, or when the caller stops reading. When
 * `until` aborts, its reason is thrown once the thread has ended, and with it what it holds of the database.
 */
export async function* workerResults<T>(
  script: "verify-worker" | "prune-worker",
  data: unknown,
  count: number,
  until?: AbortSignal,
): AsyncGenerator<T> {
  until?.throwIfAborted();
  if (count === 0) return;
  const idle = script === "verify-worker" ? takeIdle() : undefined;
  const worker = idle ?? (await startWorker(import.meta.url, script, undefined));
  const results: T[] = [];
  let wake = () => {};
  let failure: Error | undefined;
  const onMessage = (result: T) => {
    results.push(result);
    wake();
  };
  const onError = (error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
    wake();
  };
  const onExit = () => {
    failure ??= new Error(`the ${script} thread ended early`);
    wake();
  };
  const onAbort = () => wake();
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  until?.addEventListener("abort", onAbort);
  let left = count;
  try {
    worker.postMessage(data);
    while (left > 0) {
      while (results.length === 0) {
        until?.throwIfAborted();
        if (failure) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      left -= 1;
      yield results.shift()!;
    }
  } finally {
    until?.removeEventListener("abort", onAbort);
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    if (left === 0 && script === "verify-worker" && failure === undefined) keepIdle(worker);
    else await worker.terminate();
  }
}
