import { type Place, Places } from "#server/platform/places";

/** Each run takes a thread, for as long as its chain is long: one partner leaves one to others. */
const AT_ONCE = 3;
const OF_PARTNER = 2;

interface Run<R> {
  readonly result: Promise<R>;
  readonly deserted: AbortController;
  waiting: number;
}

interface Asked<R> {
  readonly key: string;
  readonly partner: string;
  /** Aborts when whoever asks waits no longer. */
  readonly until: AbortSignal;
  /** Ends when the signal aborts: nobody waits for it any more. */
  work(until: AbortSignal): Promise<R>;
}

/** Runs of this process. Whoever asks for what is running already gets the result of that run. */
export class SharedRuns<R> {
  readonly #runs = new Map<string, Run<R>>();
  readonly #places = new Places();

  /** Undefined when enough are under way. The last to leave hears of the end of the run, the others of their leaving. */
  join(asked: Asked<R>): Promise<R> | undefined {
    if (asked.until.aborted) return Promise.reject(asked.until.reason);
    const run = this.#runs.get(asked.key) ?? this.#begin(asked);
    return run && this.#wait(run, asked);
  }

  #begin({ key, partner, work }: Asked<R>): Run<R> | undefined {
    const places: readonly Place[] = [
      ["all", AT_ONCE],
      [`partner ${partner}`, OF_PARTNER],
    ];
    if (this.#places.take(places) !== undefined) return undefined;
    const deserted = new AbortController();
    const result = work(deserted.signal).finally(() => {
      this.#forget(key, run);
      this.#places.free(places);
    });
    const run: Run<R> = { result, deserted, waiting: 0 };
    this.#runs.set(key, run);
    return run;
  }

  async #wait(run: Run<R>, { key, until }: Asked<R>): Promise<R> {
    run.waiting += 1;
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        run.waiting -= 1;
        if (run.waiting > 0) return reject(until.reason);
        // Nobody joins a run that ends; its place is free once it has.
        this.#forget(key, run);
        run.deserted.abort(until.reason);
      };
    });
    until.addEventListener("abort", leave);
    try {
      return await Promise.race([run.result, left]);
    } finally {
      until.removeEventListener("abort", leave);
    }
  }

  #forget(key: string, run: Run<R>): void {
    if (this.#runs.get(key) === run) this.#runs.delete(key);
  }
}
