import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { bodyOf, type DeliveryBody, deliveryHeaders } from "#contract/core/webhook-request";
import { version } from "../../version.ts";
import { type Receiver, receiverAt } from "./receiver.ts";

/** What came of one attempt at the receiver: what the command prints. */
export interface Forwarded {
  readonly at: string;
  readonly event: string;
  readonly status: "delivered" | "retrying" | "failed";
  readonly responseStatus: number | null;
  readonly responseTimeMs: number;
  readonly attempt: number;
  readonly errorMessage: string | null;
  readonly nextAttemptAt: string | null;
  readonly eventId: string;
  readonly deliveryId: string;
}

interface Options {
  readonly url: string;
  readonly secret: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly print: (forwarded: Forwarded) => Promise<void>;
}

/** As a webhook has it whose retry policy nobody changed. */
const RETRIES = 5;
const FIRST_RETRY_MS = 1_000;
const AT_ONCE = 4;
/** Events that wait for the receiver; the server keeps the others meanwhile. */
const WAITING_MAX = 500;

/** Posts events to a receiver as the server would: signed, four at once, again after a failure. */
export class Forwarder {
  readonly counts = { delivered: 0, failed: 0 };
  readonly #options: Options;
  readonly #receiver: Receiver;
  readonly #under = new Set<Promise<void>>();
  readonly #turn: (() => void)[] = [];
  readonly #broken = new AbortController();
  #running = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#receiver = receiverAt(options.url);
  }

  /** Aborts where results cannot be printed. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Of the events that were taken, those that are neither delivered nor given up. */
  get waiting(): number {
    return this.#under.size;
  }

  /** Takes an event, once few enough wait. */
  async take(event: DeliveryBody): Promise<void> {
    while (this.#under.size >= WAITING_MAX && !this.#stopped) await Promise.race(this.#under);
    if (this.#stopped) return;
    const work = this.#deliver(event)
      .then((ended) => void (ended && this.#under.delete(work)))
      .catch((error: unknown) => this.#broken.abort(error));
    this.#under.add(work);
  }

  /** After the signal: ends what is under way. */
  async close(): Promise<void> {
    for (const next of this.#turn.splice(0)) next();
    await Promise.all(this.#under);
    await this.#receiver.close();
  }

  get #stopped(): boolean {
    return this.#options.signal.aborted || this.#broken.signal.aborted;
  }

  /** False where the command ended first. */
  async #deliver(event: DeliveryBody): Promise<boolean> {
    const { now, print, signal } = this.#options;
    const deliveryId = randomUUID();
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#inTurn(() => this.#post(event, deliveryId, attempt));
      if (answer === undefined) return false;
      const { errorMessage, responseStatus } = answer;
      const isLast = attempt > RETRIES || responseStatus === 410;
      const waitMs = FIRST_RETRY_MS * 2 ** (attempt - 1);
      const status = errorMessage === null ? "delivered" : isLast ? "failed" : "retrying";
      if (status !== "retrying") this.counts[status] += 1;
      await print({
        at: new Date(now()).toISOString(),
        event: event.type,
        status,
        ...answer,
        attempt,
        nextAttemptAt: status === "retrying" ? new Date(now() + waitMs).toISOString() : null,
        eventId: event.id,
        deliveryId,
      });
      if (status !== "retrying") return true;
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #post(event: DeliveryBody, id: string, attempt: number) {
    const { secret, now, signal } = this.#options;
    const body = bodyOf(event);
    const mac = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
    const sent = { id, event: event.type, eventId: event.id, body, attempt, nowMs: now(), version, mac };
    return this.#receiver.post(deliveryHeaders(sent), body, signal);
  }

  /** Undefined once the command ends. */
  async #inTurn<R>(work: () => Promise<R | undefined>): Promise<R | undefined> {
    if (this.#running >= AT_ONCE && !this.#stopped) await new Promise<void>((resolve) => this.#turn.push(resolve));
    if (this.#stopped) return undefined;
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#turn.shift()?.();
    }
  }
}
