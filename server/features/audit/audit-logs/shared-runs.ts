import { type Place, Places } from "#server/platform/places";

/** Each run takes a thread, for as long as its chain is long: one partner leaves one to others. */
const AT_ONCE = 3;
const OF_PARTNER = 2;

/** Runs of this process. Whoever asks for what is running already gets the result of that run. */
export class SharedRuns<R> {
  readonly #runs = new Map<string, Promise<R>>();
  readonly #places = new Places();

  /** Undefined when enough are under way. */
  join(key: string, partner: string, work: () => Promise<R>): Promise<R> | undefined {
    const known = this.#runs.get(key);
    if (known) return known;
    const places: readonly Place[] = [
      ["all", AT_ONCE],
      [`partner ${partner}`, OF_PARTNER],
    ];
    if (this.#places.take(places) !== undefined) return undefined;
    const run = work().finally(() => {
      this.#runs.delete(key);
      this.#places.free(places);
    });
    this.#runs.set(key, run);
    return run;
  }
}
