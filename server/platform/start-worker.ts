import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/** Starts a thread with the script of this name beside the module that asks. */
export function startWorker(beside: string, script: string, data: unknown): Worker {
  if (!beside.endsWith(".ts")) return new Worker(new URL(`./${script}.js`, beside), { workerData: data });
  // Run from source (development, tests): the thread needs a TypeScript loader of its own.
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx/package.json"));
  const loader = new URL("dist/esm/api/index.mjs", tsx);
  const body = new URL(`./${script}.ts`, beside);
  const start = `import(${JSON.stringify(loader.href)})
    .then(({ register }) => { register(); return import(${JSON.stringify(body.href)}); })`;
  return new Worker(start, { eval: true, workerData: data, execArgv: ["--conditions", "source"] });
}
