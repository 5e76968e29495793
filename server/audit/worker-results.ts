import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

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
  const worker = startWorker(script, data);
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

function startWorker(script: string, data: unknown): Worker {
  if (!import.meta.url.endsWith(".ts"))
    return new Worker(new URL(`./${script}.js`, import.meta.url), { workerData: data });
  // Run from source (development, tests): the thread needs a TypeScript loader of its own.
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx/package.json"));
  const loader = new URL("dist/esm/api/index.mjs", tsx);
  const body = new URL(`./${script}.ts`, import.meta.url);
  const start = `import(${JSON.stringify(loader.href)})
    .then(({ register }) => { register(); return import(${JSON.stringify(body.href)}); })`;
  return new Worker(start, { eval: true, workerData: data, execArgv: ["--conditions", "source"] });
}
