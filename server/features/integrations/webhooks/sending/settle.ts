import { asSystem } from "#server/db/as-system";
import { eachOf } from "#server/db/dialect/json";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";
import { failWebhook, giveUpWaiting } from "../give-up-waiting.ts";
import type { DeliveryRow, WebhookRow } from "../queries.ts";
import { queueChanged } from "../queue.ts";
import { FAILURES_MAX } from "../rules.ts";
import type { Answer } from "./attempt.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { type Tally, tallyOf } from "./tally.ts";

/** An attempt that was made. */
export interface Made {
  readonly webhook: WebhookRow;
  readonly delivery: DeliveryRow;
  readonly answer: Answer;
}

const changed = {
  id: "uuid",
  status: "text",
  attempts: "int",
  nextAttemptAt: "timestamptz",
  responseStatus: "int",
  responseBody: "text",
  responseTimeMs: "int",
  errorMessage: "text",
  deliveredAt: "timestamptz",
} as const;

const tallied = {
  id: "uuid",
  successes: "int",
  failures: "int",
  inARow: "int",
  lastSuccessAt: "timestamptz",
} as const;

/**
 * Writes down what came of these attempts, in one transaction. A delivery that was given up or deleted meanwhile stays
 * so: each is changed only if it still has the attempts it was sent with.
 */
export async function settleAttempts(services: Services, made: readonly Made[]): Promise<Map<string, Outcome>> {
  const now = services.clock.now();
  const { dialect } = services.store;
  const outcomes = made.map(({ webhook, delivery, answer }) =>
    outcomeOf(delivery, answer, { policy: webhook.retryPolicy, now, chance: chanceOf(services) }),
  );
  return asSystem(services, "deliver webhooks")
    .transaction()
    .execute(async (tx) => {
      // Webhooks before their deliveries, in one order: so nobody waits in a circle.
      const ids = [...new Set(made.map(({ webhook }) => webhook.id))].sort();
      const rows = tx.selectFrom("webhooks").selectAll().where("id", "in", ids).orderBy("id");
      const webhooks = new Map((await held(rows, dialect).execute()).map((row) => [row.id, row]));
      const written = await tx
        .updateTable("webhookDeliveries")
        .from(eachOf<Outcome>(dialect, changed, outcomes))
        .set((eb) => ({
          status: eb.ref("each.status"),
          attempts: eb.ref("each.attempts"),
          nextAttemptAt: eb.ref("each.nextAttemptAt"),
          responseStatus: eb.ref("each.responseStatus"),
          responseBody: eb.ref("each.responseBody"),
          responseTimeMs: eb.ref("each.responseTimeMs"),
          errorMessage: eb.ref("each.errorMessage"),
          deliveredAt: eb.ref("each.deliveredAt"),
          updatedAt: now,
        }))
        .whereRef("webhookDeliveries.id", "=", "each.id")
        .where("webhookDeliveries.status", "in", ["pending", "retrying"])
        .where((eb) => eb("webhookDeliveries.attempts", "=", eb("each.attempts", "-", 1)))
        .returning("webhookDeliveries.id")
        .execute();
      const counts = new Set(written.map(({ id }) => id));
      const tallies = ids.flatMap((id) => {
        const webhook = webhooks.get(id);
        const own = webhook ? ended(id, made, outcomes, counts) : [];
        return webhook && own.length > 0 ? [tallyOf(webhook, own)] : [];
      });
      await countTogether(tx, services, tallies);
      return new Map(outcomes.filter(({ id }) => counts.has(id)).map((outcome) => [outcome.id, outcome]));
    });
}

const chanceOf = ({ random }: Pick<Services, "random">): number => random.bytes(4).readUInt32BE() / 2 ** 32;

/** The deliveries of a webhook that ended, in the order in which they did. Tests say nothing about its receiver. */
function ended(id: string, made: readonly Made[], outcomes: readonly Outcome[], counts: ReadonlySet<string>) {
  return outcomes.filter((outcome, index) => {
    const { webhook, delivery } = made[index] as Made;
    return webhook.id === id && counts.has(outcome.id) && delivery.origin !== "test";
  });
}

/** One statement for all of them: their rows are held meanwhile, and whoever tells of new events waits for them. */
async function countTogether(tx: Tx, services: Services, tallies: readonly Tally[]): Promise<void> {
  if (tallies.length === 0) return;
  const now = services.clock.now();
  const counted = tallies.map(({ webhook, successes, failures, inARow }) => ({
    id: webhook.id,
    successes,
    failures,
    inARow,
    lastSuccessAt: successes > 0 ? now : webhook.lastSuccessAt,
  }));
  await tx
    .updateTable("webhooks")
    .from(eachOf<(typeof counted)[number]>(services.store.dialect, tallied, counted))
    .set((eb) => ({
      successCount: eb("successCount", "+", eb.ref("each.successes")),
      failureCount: eb("failureCount", "+", eb.ref("each.failures")),
      consecutiveFailures: eb.ref("each.inARow"),
      lastSuccessAt: eb.ref("each.lastSuccessAt"),
      lastDeliveryAt: now,
    }))
    .whereRef("webhooks.id", "=", "each.id")
    .execute();
  for (const { webhook, inARow, isGone } of tallies)
    if (isGone) await pauseGone(tx, webhook, now);
    else if (inARow >= FAILURES_MAX) await failWebhook(tx, services, webhook, "failed deliveries");
}

/** The receiver said that it is there no more, and for good (410). */
async function pauseGone(tx: Tx, { id, orgId }: WebhookRow, now: string): Promise<void> {
  const paused = tx.updateTable("webhooks").set({ status: "paused", updatedAt: now });
  const { numUpdatedRows } = await paused.where("id", "=", id).where("status", "=", "active").executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) return;
  await giveUpWaiting(tx, [id], now);
  await queueChanged(tx, [orgId]);
}
