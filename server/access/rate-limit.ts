import type { Store } from "#server/db/dialect/index";
import { RING_BUCKETS, type RingRequest } from "#server/db/dialect/rate-ring";
import { changeLimit, purgeLimits } from "#server/db/rate-limits";
import type { Tx } from "#server/db/unit-of-work";
import type { Clock } from "#server/platform/clock";
import type { Log } from "#server/platform/log";

/** A limit over a sliding window, kept as a ring of 61 buckets that together cover it. */
export interface Limit {
  readonly name: string;
  readonly max: number;
  readonly windowSeconds: number;
}

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the oldest counted bucket leaves the window: the first moment a slot can free. */
  readonly resetAtMs: number;
}

/**
 * Sliding-window limits shared by every replica. The oldest bucket counts whole, so no true window
 * ever admits more than the limit; a slot frees at most one bucket late (measured: two-bucket and
 * GCRA designs admit nearly twice the limit under bursts). A refused call consumes nothing.
 */
export class RateLimiter {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Calls taken from the shared ring ahead of need, per key: at most 1 % of the limit. */
  readonly #leases = new Map<string, { left: number; size: number; bucket: number }>();
  readonly #leasing = new Map<string, Promise<Allowance>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Takes one call from the window, or says when to come back. */
  async take(limit: Limit, subject: string, amount = 1): Promise<Allowance> {
    return this.#change(limit, subject, amount);
  }

  /**
   * `take` as part of a transaction, stored as durably as what it limits: a failed transaction costs nothing. Callers
   * of one subject wait for each other. A limit is taken either this way or the other, never both.
   */
  async takeWithin(tx: Tx, limit: Limit, subject: string, amount = 1): Promise<Allowance> {
    return this.#change(limit, subject, amount, tx);
  }

  /**
   * `take` for limits that every request meets: a busy key leases calls ahead, doubling up to 1 % of
   * the limit within one bucket, so that most of its calls touch no database. What a lease holds
   * counts as used at once, so the limit still holds exactly.
   */
  async takeLeased(limit: Limit, subject: string): Promise<Allowance> {
    const key = `${limit.name}:${subject}`;
    for (;;) {
      const bucket = bucketOf(limit, this.#clock.nowMs());
      const lease = this.#leases.get(key);
      if (lease?.bucket === bucket && lease.left > 0) {
        lease.left -= 1;
        return { allowed: true, limit: limit.max, remaining: lease.left, resetAtMs: 0 };
      }
      const running = this.#leasing.get(key);
      if (!running) break;
      // A waiting call finds the lease filled, or learns of the refusal, without asking the database again.
      const shared = await running;
      if (!shared.allowed) return shared;
    }
    const leasing = this.#lease(limit, subject, key);
    this.#leasing.set(key, leasing);
    try {
      return await leasing;
    } finally {
      this.#leasing.delete(key);
    }
  }

  async #lease(limit: Limit, subject: string, key: string): Promise<Allowance> {
    const bucket = bucketOf(limit, this.#clock.nowMs());
    const last = this.#leases.get(key);
    const size = last?.bucket === bucket ? Math.max(1, Math.min(Math.floor(limit.max / 100), last.size * 2)) : 1;
    const taken = await this.#change(limit, subject, size);
    if (!taken.allowed) return size === 1 ? taken : this.#change(limit, subject, 1);
    if (this.#leases.size > 10_000) this.#leases.clear();
    this.#leases.set(key, { left: size - 1, size, bucket });
    return taken;
  }

  /** Looks without taking: for limits that count failures only. */
  async peek(limit: Limit, subject: string): Promise<Allowance> {
    return this.#change(limit, subject, 0);
  }

  /** Returns a call that was taken for an attempt which did not fail. */
  async giveBack(limit: Limit, subject: string): Promise<void> {
    await changeLimit(this.#store, this.#request(limit, subject, -1));
  }

  /** Forgets what no limit counts any more. */
  async purge(log: Log): Promise<void> {
    await purgeLimits({ store: this.#store, log }, this.#clock.now());
  }

  async #change(limit: Limit, subject: string, amount: number, within?: Tx): Promise<Allowance> {
    const { allowed, used, oldest } = await changeLimit(this.#store, this.#request(limit, subject, amount), within);
    const last = oldest ?? bucketOf(limit, this.#clock.nowMs());
    return {
      allowed,
      limit: limit.max,
      remaining: Math.max(0, limit.max - used),
      resetAtMs: Math.ceil((last + RING_BUCKETS) * bucketMs(limit)),
    };
  }

  #request(limit: Limit, subject: string, amount: number): RingRequest {
    return {
      key: `${limit.name}:${subject}`,
      bucket: bucketOf(limit, this.#clock.nowMs()),
      max: limit.max,
      amount,
      expiresAt: expiryOf(limit, this.#clock.nowMs()),
    };
  }
}

/** The second window's end after this one: the same all through a window, so that most calls leave the index alone. */
function expiryOf(limit: Limit, nowMs: number): string {
  const windowMs = limit.windowSeconds * 1_000;
  return new Date((Math.floor(nowMs / windowMs) + 3) * windowMs).toISOString();
}

const bucketMs = (limit: Limit) => (limit.windowSeconds * 1_000) / (RING_BUCKETS - 1);
const bucketOf = (limit: Limit, nowMs: number) => Math.floor(nowMs / bucketMs(limit));
