import type { Worker } from "node:worker_threads";

/** Starting a thread takes longer than verifying a small chain: whoever verifies many asks again within this time. */
const KEPT_MS = 5_000;

interface Idle {
  readonly worker: Worker;
  drop(): void;
}
const idle: Idle[] = [];

/** A thread that has done its work and waits for more. */
export function takeIdle(): Worker | undefined {
  const found = idle.pop();
  found?.drop();
  found?.worker.ref();
  return found?.worker;
}

/** Lets a thread wait for more work, without keeping the process for it. */
export function keepIdle(worker: Worker): void {
  const drop = () => {
    clearTimeout(timer);
    worker.off("error", drop).off("exit", drop);
    const at = idle.indexOf(kept);
    if (at >= 0) idle.splice(at, 1);
  };
  const kept = { worker, drop };
  const timer = setTimeout(() => {
    drop();
    void worker.terminate();
  }, KEPT_MS);
  timer.unref();
  worker.unref();
  worker.on("error", drop).on("exit", drop);
  idle.push(kept);
}
