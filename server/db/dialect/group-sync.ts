/**
 * Makes commits durable together (server/README.md, "Decisions"): one wait for the disk serves everybody who committed
 * before it began, and the event loop goes on meanwhile.
 */
export class GroupSync {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `sync` makes what is written when it is called outlast a power failure. */
  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves once all that is committed by now is on the disk; fails with the disk. */
  durable(): Promise<void> {
    // What runs already may have begun before the last commit.
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  async #after(running: Promise<void>): Promise<void> {
    await running.catch(() => undefined);
    this.#next = undefined;
    this.#running = this.#sync();
    await this.#running;
  }

  /** Resolves when nothing is on its way to the disk. */
  async settled(): Promise<void> {
    while (this.#next) await this.#next.catch(() => undefined);
    await this.#running.catch(() => undefined);
  }
}
