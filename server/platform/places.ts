/** Something that only so many may use at once. */
export type Place = readonly [name: string, limit: number];

/** Counts who uses what in this process: several places are taken together or none. */
export class Places {
  readonly #taken = new Map<string, number>();

  of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  /** Answers the first that is full; undefined = all of them are taken. */
  take(places: readonly Place[]): Place | undefined {
    const full = places.find(([name, limit]) => this.of(name) >= limit);
    if (full === undefined) for (const [name] of places) this.#taken.set(name, this.of(name) + 1);
    return full;
  }

  /** With what they were taken with. */
  free(places: readonly Place[]): void {
    for (const [name] of places) {
      const left = this.of(name) - 1;
      if (left > 0) this.#taken.set(name, left);
      else this.#taken.delete(name);
    }
  }
}
