/** Runs work of one key one after the other, in the order it was asked for; work of different keys side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<R>(key: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(key);
    const run = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, run);
    try {
      return await run;
    } finally {
      if (this.#last.get(key) === run) this.#last.delete(key);
    }
  }
}
