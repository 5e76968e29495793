import { setTimeout as pause } from "node:timers/promises";

export interface ResponseFloor {
  /** Waits until the floor is reached; not at all when it is behind. */
  reached(): Promise<void>;
}

/** A least time to answer, in real time, so that an answer's delay does not tell what was looked up. */
export function responseFloor(ms: number): ResponseFloor {
  const start = performance.now();
  return {
    async reached() {
      const left = ms - (performance.now() - start);
      // A timer may fire up to a millisecond early.
      if (left > 0) await pause(Math.ceil(left) + 1);
    },
  };
}
