import { startWorker } from "../platform/start-worker.ts";

/**
 * Starts a thread and reads the `count` results it posts, in order. The thread ends with the last result, or when
 * the caller stops reading; its error is thrown here.
 */
export async function* workerResults<T>(
  script: "verify-worker" | "prune-worker",
  data: unknown,
  count: number,
): AsyncGenerator<T> {
  if (count === 0) return;
  const worker = await startWorker(import.meta.url, script, data);
  const results: T[] = [];
  let wake = () => {};
  let failure: Error | undefined;
  worker.on("message", (result: T) => {
    results.push(result);
    wake();
  });
  worker.on("error", (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
    wake();
  });
  worker.on("exit", () => {
    failure ??= new Error(`the ${script} thread ended early`);
    wake();
  });
  try {
    for (let left = count; left > 0; left--) {
      while (results.length === 0) {
        if (failure) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      yield results.shift()!;
    }
  } finally {
    await worker.terminate();
  }
}
