import { SECOND } from "#server/platform/clock";
import type { Log } from "#server/platform/log";
import type { Refusal } from "./fold-refusals.ts";

export interface RefusalLogOptions {
  /** Stores them, all or none. */
  write(refusals: readonly Refusal[]): Promise<void>;
  readonly log: Log;
  /** Told how many refusals are not recorded. */
  onLost(count: number): void;
  readonly retryMs?: number;
}

const KEPT_MAX = 1_000;

/**
 * Records refused requests. What the database does not take, because its disk is full or it cannot be reached, waits in
 * memory and is tried again; beyond a thousand only their number is kept (docs/audit.md, "Repeated refusals").
 */
export class RefusalLog {
  readonly #options: RefusalLogOptions;
  readonly #running = new Set<Promise<void>>();
  #waiting: Refusal[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #trying: Promise<boolean> | undefined;

  constructor(options: RefusalLogOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  record(refusals: readonly Refusal[]): Promise<void> {
    const run = this.#options
      .write(refusals)
      .catch((error) => this.#keep(refusals, error))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
    return run;
  }

  /** Tries what waits once more. True if nothing waits any more. */
  flush(): Promise<boolean> {
    this.#trying ??= this.#try().finally(() => {
      this.#trying = undefined;
    });
    return this.#trying;
  }

  /** Resolves when no refusal is being recorded, and what waited was tried once more: before the database closes. */
  async stop(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    if (!(await this.flush())) this.#options.log.error("audit.refusals_lost", { count: this.#lost });
    clearTimeout(this.#timer);
  }

  get #lost(): number {
    return this.#waiting.length + this.#dropped;
  }

  async #try(): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, 100);
      try {
        await this.#options.write(batch);
      } catch {
        this.#arm();
        return false;
      }
      this.#waiting = this.#waiting.slice(batch.length);
      this.#options.onLost(this.#lost);
    }
    return true;
  }

  #keep(refusals: readonly Refusal[], error: unknown): void {
    this.#options.log.error("audit.refusal_lost", { cause: error as Error });
    const room = Math.max(0, KEPT_MAX - this.#waiting.length);
    this.#waiting.push(...refusals.slice(0, room));
    this.#dropped += Math.max(0, refusals.length - room);
    this.#options.onLost(this.#lost);
    this.#arm();
  }

  #arm(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        void this.flush();
      },
      this.#options.retryMs ?? 5 * SECOND,
    ).unref();
  }
}
