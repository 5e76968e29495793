/** A lock whose waiters are woken one at a time, in the order they came. */
export class Turns {
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  async take(): Promise<void> {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
  }

  pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }

  async alone<T>(work: () => T | Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.pass();
    }
  }
}
