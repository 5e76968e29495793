import type { Kysely } from "kysely";
import type { Store } from "#server/db/dialect/index";
import { lockText } from "#server/db/dialect/locks";
import type { Database } from "#server/db/tables";
import { systemHandle, type Tx } from "#server/db/unit-of-work";
import { after, type Clock } from "#server/platform/clock";

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

const BUCKETS = 61;

/**
 * Sliding-window limits shared by every replica. The oldest bucket counts whole, so no true window
 * ever admits more than the limit; a slot frees at most one bucket late (measured: two-bucket and
 * GCRA designs admit nearly twice the limit under bursts). A refused call consumes nothing.
 */
export class RateLimiter {
  readonly #db: Kysely<Database>;
  readonly #store: Store;
  readonly #clock: Clock;
  /** Calls taken from the shared ring ahead of need, per key: at most 1 % of the limit. */
  readonly #leases = new Map<string, { left: number; size: number; bucket: number }>();
  readonly #leasing = new Map<string, Promise<Allowance>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#db = systemHandle(store);
    this.#clock = clock;
  }

  /** Takes one call from the window, or says when to come back. */
  async take(limit: Limit, subject: string, amount = 1): Promise<Allowance> {
    return this.#change(limit, subject, amount);
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
      // Whoever waits finds the lease filled, or learns of the refusal, without asking the database again.
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

  /** Returns a call that was taken for an attempt which did not fail; joins the transaction of its success. */
  async giveBack(tx: Tx, limit: Limit, subject: string): Promise<void> {
    const key = `${limit.name}:${subject}`;
    await lockText(tx, this.#store.dialect, key);
    const row = await tx.selectFrom("rateLimits").selectAll().where("key", "=", key).executeTakeFirst();
    const turned = turn(row, bucketOf(limit, this.#clock.nowMs()));
    for (let bucket = turned.head; bucket > turned.head - BUCKETS && bucket >= 0; bucket -= 1) {
      const slot = bucket % BUCKETS;
      const count = turned.ring[slot] ?? 0;
      if (count === 0) continue;
      turned.ring[slot] = count - 1;
      return save(tx, key, turned, after(this.#clock.now(), limit.windowSeconds * 2_000));
    }
  }

  async #change(limit: Limit, subject: string, amount: number): Promise<Allowance> {
    const key = `${limit.name}:${subject}`;
    const now = this.#clock.nowMs();
    return this.#db.transaction().execute(async (tx) => {
      await lockText(tx, this.#store.dialect, key);
      const row = await tx.selectFrom("rateLimits").selectAll().where("key", "=", key).executeTakeFirst();
      const turned = turn(row, bucketOf(limit, now));
      const used = turned.ring.reduce((sum, count) => sum + count, 0);
      const allowed = amount === 0 ? used < limit.max : used + amount <= limit.max;
      if (allowed && amount > 0) {
        const slot = turned.head % BUCKETS;
        turned.ring[slot] = (turned.ring[slot] ?? 0) + amount;
        await save(tx, key, turned, after(this.#clock.now(), limit.windowSeconds * 2_000));
      }
      const counted = allowed ? used + amount : used;
      return {
        allowed,
        limit: limit.max,
        remaining: Math.max(0, limit.max - counted),
        resetAtMs: resetAt(limit, turned),
      };
    });
  }
}

interface Ring {
  head: number;
  ring: number[];
}

const bucketMs = (limit: Limit) => (limit.windowSeconds * 1_000) / (BUCKETS - 1);
const bucketOf = (limit: Limit, nowMs: number) => Math.floor(nowMs / bucketMs(limit));

/** Moves the ring's head to `bucket`, emptying what has left the window. */
export function turn(row: Ring | undefined, bucket: number): Ring {
  if (!row || bucket - row.head >= BUCKETS || row.ring.length !== BUCKETS) {
    return { head: bucket, ring: new Array<number>(BUCKETS).fill(0) };
  }
  // A clock that steps back keeps counting in the newest bucket: never admits more.
  if (bucket <= row.head) return { head: row.head, ring: [...row.ring] };
  const ring = [...row.ring];
  for (let step = row.head + 1; step <= bucket; step += 1) ring[step % BUCKETS] = 0;
  return { head: bucket, ring };
}

function resetAt(limit: Limit, { head, ring }: Ring): number {
  for (let bucket = head - BUCKETS + 1; bucket <= head; bucket += 1) {
    if (bucket >= 0 && (ring[bucket % BUCKETS] ?? 0) > 0) return Math.ceil((bucket + BUCKETS) * bucketMs(limit));
  }
  return Math.ceil((head + 1) * bucketMs(limit));
}

async function save(tx: Tx, key: string, { head, ring }: Ring, expiresAt: string): Promise<void> {
  await tx
    .insertInto("rateLimits")
    .values({ key, head, ring, expiresAt })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ head, ring, expiresAt }))
    .execute();
}
