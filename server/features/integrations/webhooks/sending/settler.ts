import { pause } from "#server/jobs/queue";
import { SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import type { Outcome } from "./outcome.ts";
import { type Made, settleAttempts } from "./settle.ts";

const BATCH = 200;

/** Writes attempts down in batches: while one is written the next gathers. */
export class Settler {
  readonly #services: Services;
  readonly #stopped: AbortSignal;
  readonly #waiting: { made: Made; settled: (outcome: Outcome | undefined) => void }[] = [];
  #running: Promise<void> | undefined;

  constructor(services: Services, stopped: AbortSignal) {
    this.#services = services;
    this.#stopped = stopped;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(made: Made, settled: (outcome: Outcome | undefined) => void): void {
    this.#waiting.push({ made, settled });
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async flush(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Others end in the same moment.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        const outcomes = await settleAttempts(
          this.#services,
          batch.map(({ made }) => made),
        );
        this.#waiting.splice(0, batch.length);
        for (const { made, settled } of batch) settled(outcomes.get(made.delivery.id));
      } catch (error) {
        this.#services.log.warn("webhook.not_settled", { error: error as Error });
        // What cannot be written down is sent again by whoever holds the queue next.
        if (this.#stopped.aborted) return;
        await pause(SECOND, this.#stopped);
      }
    }
  }
}
