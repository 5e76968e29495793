import { performance } from "node:perf_hooks";

/** How often threads are told. */
const TOLD_MS = 50;

/** What threads see: how busy the process is, of a thousand, and how many chains it verifies at once. */
const [LOAD, VERIFYING, NOTHING] = [0, 1, 2];
const shared = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));

let appends = 0;
let appendsSince = 0;
let appendedMs = 0;

/** Runs what appends to the log, or waits for another server to do so: meanwhile verifications rest. */
export async function appending<T>(work: () => Promise<T>): Promise<T> {
  if (appends === 0) appendsSince = performance.now();
  appends += 1;
  try {
    return await work();
  } finally {
    appends -= 1;
    if (appends === 0) appendedMs += performance.now() - appendsSince;
  }
}

let telling: NodeJS.Timeout | undefined;

/** Counts a verification; until `end` its thread is told through `memory` how busy this process is. */
export function countVerification(): { memory: Int32Array; end(): void } {
  if (Atomics.add(shared, VERIFYING, 1) === 0) {
    const look = looking();
    look();
    telling = setInterval(() => Atomics.store(shared, LOAD, look()), TOLD_MS).unref();
  }
  const end = () => {
    if (Atomics.sub(shared, VERIFYING, 1) > 1) return;
    clearInterval(telling);
    Atomics.store(shared, LOAD, 0);
  };
  return { memory: shared, end };
}

/** Since the last look: the part of the time that the event loop worked, or somebody appended, whichever is more. */
function looking(): () => number {
  let [at, appended, loop] = [performance.now(), 0, performance.eventLoopUtilization()];
  return () => {
    const before = { at, appended, loop };
    at = performance.now();
    appended = appendedMs + (appends > 0 ? at - appendsSince : 0);
    loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, before.loop);
    return Math.round(1_000 * Math.min(1, Math.max(utilization, (appended - before.appended) / (at - before.at))));
  };
}

/** Of the time, what all verifications of a process have together while it is busy throughout. */
const SHARE = 0.1;
/** Worked without a rest; also how long a rest lasts at least. */
const SLICE_MS = 10;
/** Pieces of work between two looks at the clock, which costs as much as a tenth of one. */
const PIECES = 32;

/** In milliseconds. */
interface Time {
  now(): number;
  wait(memory: Int32Array, ms: number): void;
}
const time: Time = {
  now: () => performance.now(),
  wait: (memory, ms) => void Atomics.wait(memory, NOTHING, 0, ms),
};

/**
 * For a thread that verifies: called at every piece of work, it rests as much longer than it worked as the process is
 * busy. A second thread of the same core slows the first one down whatever its priority, so yielding is not enough.
 */
export function resting(memory: Int32Array, { now: nowMs, wait }: Time = time): () => void {
  let [pieces, worked] = [0, 0];
  let looked = nowMs();
  return () => {
    pieces += 1;
    if (pieces % PIECES !== 0) return;
    const now = nowMs();
    // What takes longer is waiting, for a database or a lock: no reason to rest.
    worked += Math.min(now - looked, SLICE_MS);
    looked = now;
    if (worked < SLICE_MS) return;
    while (nowMs() < now + worked * restOf(memory)) wait(memory, SLICE_MS);
    looked = nowMs();
    worked = 0;
  };
}

const restOf = (memory: Int32Array): number =>
  (Atomics.load(memory, LOAD) / 1_000) * (Math.max(1, Atomics.load(memory, VERIFYING)) / SHARE - 1);
