/** Carries topics to other processes. */
export interface Wire {
  send(topic: string): void;
  /** Begins to hear; what other processes send reaches `heard`, this process's own sends do not. */
  open(heard: (topic: string) => void): void;
  close(): Promise<void>;
}

/**
 * Wakes what waits for a row to change, wherever it runs. A signal may be lost: it says when to look, and the database
 * says what there is, so that whoever waits looks by the clock as well.
 */
export class Signals {
  readonly #wire: Wire | undefined;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  #opened = false;

  constructor(wire?: Wire) {
    this.#wire = wire;
  }

  /** The server stops: nothing is waited for any more. */
  get closed(): boolean {
    return this.stopping.aborted;
  }

  /** Aborts when the server stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Call it once what changed is durable. */
  send(topic: string): void {
    if (this.closed) return;
    this.#wake(topic);
    this.#wire?.send(topic);
  }

  /** Calls `listener` at each signal until the returned function is called. */
  on(topic: string, listener: () => void): () => void {
    this.#open();
    return this.#listen(topic, listener);
  }

  #open(): void {
    if (!this.#opened) this.#wire?.open((heard) => this.#wake(heard));
    this.#opened = true;
  }

  #listen(topic: string, listener: () => void): () => void {
    const known = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, known.add(listener));
    return () => {
      known.delete(listener);
      if (known.size === 0 && this.#listeners.get(topic) === known) this.#listeners.delete(topic);
    };
  }

  /** Resolves at the next signal, after `ms`, or when `until` aborts or the server stops. */
  heard(topic: string, ms: number, until?: AbortSignal): Promise<void> {
    this.#open();
    return this.#wait(topic, ms, until);
  }

  /** Resolves after `ms`, or when `until` aborts or the server stops. */
  pause(ms: number, until?: AbortSignal): Promise<void> {
    return this.#wait("nothing", ms, until);
  }

  #wait(topic: string, ms: number, until?: AbortSignal): Promise<void> {
    if (this.closed || until?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        off();
        until?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      const off = this.#listen(topic, done);
      until?.addEventListener("abort", done, { once: true });
    });
  }

  async close(): Promise<void> {
    this.stopWaiting();
    await this.#wire?.close();
  }

  /** Ends every wait, and what may be cut off, so that requests can be answered before the server closes. */
  stopWaiting(): void {
    this.#stopping.abort();
    for (const topic of [...this.#listeners.keys()]) this.#wake(topic);
  }

  #wake(topic: string): void {
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener();
  }
}
