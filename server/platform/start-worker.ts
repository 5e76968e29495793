import { Worker } from "node:worker_threads";

/** Starts a thread with the script of this name beside the module that asks. */
export async function startWorker(beside: string, script: string, data: unknown): Promise<Worker> {
  if (!beside.endsWith(".ts")) return new Worker(new URL(`./${script}.js`, beside), { workerData: data });
  const { compiledThread } = await import("./source-thread.ts");
  return new Worker(await compiledThread(new URL(`./${script}.ts`, beside)), { workerData: data, execArgv: [] });
}
