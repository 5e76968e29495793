import type { WebhookRow } from "../queries.ts";
import type { Answer } from "./attempt.ts";

const SLOW_MS = 2_000;
const REMEMBERED_MAX = 10_000;

export interface Health {
  /** The latest attempt failed. */
  readonly isFailing: boolean;
  /** The latest answer was late. */
  readonly isSlow: boolean;
}

/**
 * How each receiver answered this process last. It outlives the queue, which is given up a second after its last delivery:
 * a receiver that is slow at every event would else take the places of a prompt one each time.
 */
export class ReceiverHealth {
  readonly #known = new Map<string, Health>();

  of({ id, consecutiveFailures }: WebhookRow): Health {
    return this.#known.get(id) ?? { isFailing: consecutiveFailures > 0, isSlow: false };
  }

  note(webhookId: string, { errorMessage, responseTimeMs }: Answer): void {
    // Those that answered longest ago are forgotten first.
    this.#known.delete(webhookId);
    this.#known.set(webhookId, { isFailing: errorMessage !== null, isSlow: responseTimeMs > SLOW_MS });
    if (this.#known.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest as string);
  }
}
