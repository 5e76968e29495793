/** More work than one decision or preview may take. */
export class OutOfSteps extends Error {
  constructor(limit: number) {
    super(`more than ${limit} steps`);
  }
}

/** Of one report: beyond it nobody is approved by a rule. */
export const REPORT_STEPS_MAX = 5_000_000;
/** Of one preview: beyond it the rest is left out. */
export const PREVIEW_STEPS_MAX = 50_000_000;

/** Steps between two looks at the clock: a fraction of a millisecond. */
const BETWEEN_LOOKS = 50_000;

/** Counts what matching costs, whatever the patterns are. */
export class Steps {
  readonly #limit: number;
  #taken = 0;
  #looked = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes steps before they are made; whether it is time to look at the clock. */
  take(count: number): boolean {
    this.#taken += count;
    if (this.#taken > this.#limit) throw new OutOfSteps(this.#limit);
    if (this.#taken - this.#looked < BETWEEN_LOOKS) return false;
    this.#looked = this.#taken;
    return true;
  }
}

/** Work that stops now and then, so that whoever drives it may let others on. */
export type Stepwise<R> = Generator<void, R, void>;

/** Drives work to its end at once. */
export function atOnce<R>(work: Stepwise<R>): R {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const HOLD_MS = 8;

/** Drives work to its end and lets other requests on every 10 ms. */
export async function inTurns<R>(work: Stepwise<R>): Promise<R> {
  let since = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - since < HOLD_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
}
