import { asSystem } from "#server/db/as-system";
import type { Db } from "#server/db/dialect/index";
import { MINUTE, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import type { DeliveryRow } from "../queries.ts";
import { attemptDelivery } from "./attempt.ts";
import {
  claimQueues,
  heldQueues,
  LEASE_MS,
  type Room,
  releaseAll,
  releaseQueue,
  renewQueues,
  someAreDue,
} from "./lease.ts";
import { type HeldQueue, type Line, newQueue, nextOf, readQueue } from "./line.ts";
import { ReceiverHealth } from "./receiver-health.ts";
import { Settler } from "./settler.ts";
import { type Bound, Slots } from "./slots.ts";

const ATTEMPT_MS = 30 * SECOND;
const RENEW_BEFORE_MS = LEASE_MS - 5 * SECOND;
/** A queue is kept a moment longer: its organization has more to tell. */
const LINGER_MS = SECOND;
const HELD_MAX = 500;
/** Queues in which something is always due are never given up: those of one partner leave room for others. */
const HELD_OF_PARTNER = HELD_MAX / 2;
/** Attempts that are made and not written down: more would only grow while the database is away. */
const UNSETTLED_MAX = 2_000;

/**
 * Sends what is due. A process holds the queue of an organization for as long as it sends, so that no other makes the
 * same attempt; organizations take turns, and within one its webhooks (docs/integrations.md, "Sending").
 */
export class Deliverer {
  readonly #services: Services;
  /** To look again and again, without a line in the log for each time. */
  readonly #looking: Db;
  readonly #holder: string;
  readonly #held = new Map<string, HeldQueue>();
  readonly #slots = new Slots();
  readonly #health = new ReceiverHealth();
  readonly #settler: Settler;
  readonly #stopped = new AbortController();
  /** Something can be read or given up before the next turn of the clock. */
  #wake: () => void = () => undefined;
  #isClosing = false;

  constructor(services: Services) {
    this.#services = services;
    this.#looking = asSystem(services, "deliver webhooks");
    this.#holder = services.random.uuid();
    this.#settler = new Settler(services, this.#stopped.signal);
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Called when a turn is worth taking early. */
  onWake(wake: () => void): void {
    this.#wake = wake;
  }

  /** Claims, reads, starts attempts and gives up queues in which nothing is due. Attempts end on their own. */
  async turn({ lingerMs = LINGER_MS } = {}): Promise<void> {
    await this.#keep();
    await this.#claim();
    this.#start();
    await this.#giveUpIdle(lingerMs);
  }

  async #keep(): Promise<void> {
    if (this.#held.size === 0) return;
    const changes = await heldQueues(this.#services, this.#holder);
    const reading = [...this.#held].map(async ([orgId, queue]) => {
      const now = changes.get(orgId);
      // Another process has followed; what is under way here changes nothing that it settled.
      if (now === undefined) this.#held.delete(orgId);
      else await readQueue(this.#services, queue, now);
    });
    await Promise.all(reading);
    const untilMs = Math.min(...[...this.#held.values()].map(({ heldUntilMs }) => heldUntilMs));
    if (untilMs - this.#services.clock.nowMs() > RENEW_BEFORE_MS || this.#held.size === 0) return;
    const { orgIds, heldUntilMs } = await renewQueues(this.#services, this.#holder);
    for (const [orgId, queue] of this.#held)
      if (orgIds.has(orgId)) queue.heldUntilMs = heldUntilMs;
      else this.#held.delete(orgId);
  }

  async #claim(): Promise<void> {
    const room = this.#room();
    if (this.#isClosing || room.all <= 0 || !(await someAreDue(this.#looking, this.#services.clock.now()))) return;
    const heldUntilMs = this.#services.clock.nowMs() + LEASE_MS;
    for (const claimed of await claimQueues(this.#services, this.#holder, room))
      this.#held.set(claimed.orgId, newQueue(claimed, heldUntilMs));
    await this.#keep();
  }

  #room(): Room {
    const held = new Map<string, number>();
    for (const { partnerId } of this.#held.values()) held.set(partnerId, (held.get(partnerId) ?? 0) + 1);
    const ofPartner = (partnerId: string) => HELD_OF_PARTNER - (held.get(partnerId) ?? 0);
    const full = [...held.keys()].filter((partnerId) => ofPartner(partnerId) <= 0);
    return { all: HELD_MAX - this.#held.size, ofPartner, full };
  }

  /** One attempt of each queue after the other, for as long as there is place. */
  #start(): void {
    for (let started = true; started; ) {
      started = false;
      for (const queue of [...this.#held.values()]) {
        if (this.#isClosing || this.#slots.isFull() || this.#settler.waiting > UNSETTLED_MAX) return;
        if (!this.#startOne(queue)) continue;
        started = true;
        // It comes last when the next place is free.
        this.#held.delete(queue.orgId);
        this.#held.set(queue.orgId, queue);
      }
    }
  }

  #startOne(queue: HeldQueue): boolean {
    // An attempt ends before another process may follow.
    if (queue.heldUntilMs - this.#services.clock.nowMs() < ATTEMPT_MS) return false;
    for (const line of queue.lines) {
      const bound = this.#boundOf(queue, line);
      if (line.due.length === 0 || !this.#slots.take(bound)) continue;
      const delivery = line.due.shift() as DeliveryRow;
      queue.lines.push(...queue.lines.splice(queue.lines.indexOf(line), 1));
      queue.taken.add(delivery.id);
      void this.#send(queue, line, delivery, bound);
      return true;
    }
    return false;
  }

  #boundOf({ orgId, partnerId }: HeldQueue, { webhook }: Line): Bound {
    const { isFailing, isSlow } = this.#health.of(webhook);
    const { id: webhookId, target } = webhook;
    return { orgId, partnerId, webhookId, target, isFailing, isBurden: isFailing || isSlow };
  }

  async #send(queue: HeldQueue, line: Line, delivery: DeliveryRow, bound: Bound): Promise<void> {
    const answer = await attemptDelivery(this.#services, line.webhook, delivery, this.#stopped.signal);
    this.#slots.free(bound);
    if (answer === undefined) return void queue.taken.delete(delivery.id);
    this.#health.note(delivery.webhookId, answer);
    this.#settler.add({ webhook: line.webhook, delivery, answer }, (outcome) => {
      queue.taken.delete(delivery.id);
      // The line may have been read anew.
      const now = queue.lines.find(({ webhook }) => webhook.id === delivery.webhookId) ?? line;
      if (outcome?.nextAttemptAt) now.nextMs = Math.min(now.nextMs, Date.parse(outcome.nextAttemptAt));
      if (now.due.length === 0 && now.nextMs <= this.#services.clock.nowMs()) this.#wake();
    });
    this.#start();
  }

  async #giveUpIdle(lingerMs: number): Promise<void> {
    for (const queue of [...this.#held.values()]) {
      const nextMs = nextOf(queue);
      const isIdle = queue.changes >= 0 && queue.taken.size === 0 && nextMs > this.#services.clock.nowMs();
      if (!isIdle) queue.idleSinceMs = undefined;
      else queue.idleSinceMs ??= performance.now();
      if (queue.idleSinceMs === undefined || performance.now() - queue.idleSinceMs < lingerMs) continue;
      const { orgId, changes } = queue;
      if (await releaseQueue(this.#services, this.#holder, { orgId, changes, nextMs })) this.#held.delete(orgId);
    }
  }

  /** Sends everything that is due now, and holds nothing afterwards. */
  async drain(): Promise<void> {
    const end = Date.now() + MINUTE;
    for (;;) {
      await this.turn({ lingerMs: 0 });
      if (this.#held.size === 0 && !(await someAreDue(this.#looking, this.#services.clock.now()))) return;
      if (Date.now() > end) throw new Error("deliveries are due and nobody sends them");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Lets attempts under way end for `graceMs`, then stops them: they count as not made. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    for (const end = Date.now() + graceMs; this.#slots.running > 0 && Date.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 10));
    this.#stopped.abort();
    await this.#settler.flush();
    await releaseAll(this.#services, this.#holder);
  }
}
