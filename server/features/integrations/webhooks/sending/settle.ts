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
      for (const id of ids) {
        const webhook = webhooks.get(id);
        if (webhook) await count(tx, services, webhook, ended(id, made, outcomes, counts));
      }
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

async function count(tx: Tx, services: Services, webhook: WebhookRow, outcomes: readonly Outcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const now = services.clock.now();
  let inARow = webhook.consecutiveFailures;
  let worst = inARow;
  let [successes, failures] = [0, 0];
  for (const { status } of outcomes) {
    if (status === "delivered") [inARow, successes] = [0, successes + 1];
    else if (status === "failed") [inARow, failures] = [inARow + 1, failures + 1];
    worst = Math.max(worst, inARow);
  }
  await tx
    .updateTable("webhooks")
    .set((eb) => ({
      successCount: eb("successCount", "+", successes),
      failureCount: eb("failureCount", "+", failures),
      consecutiveFailures: worst >= FAILURES_MAX ? worst : inARow,
      lastDeliveryAt: now,
      ...(successes > 0 && { lastSuccessAt: now }),
    }))
    .where("id", "=", webhook.id)
    .execute();
  if (outcomes.some(({ status, responseStatus }) => status === "failed" && responseStatus === 410))
    await pauseGone(tx, webhook, now);
  else if (worst >= FAILURES_MAX) await failWebhook(tx, services, webhook, "failed deliveries");
}

/** The receiver said that it is there no more, and for good (410). */
async function pauseGone(tx: Tx, { id, orgId }: WebhookRow, now: string): Promise<void> {
  const paused = tx.updateTable("webhooks").set({ status: "paused", updatedAt: now });
  const { numUpdatedRows } = await paused.where("id", "=", id).where("status", "=", "active").executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) return;
  await giveUpWaiting(tx, [id], now);
  await queueChanged(tx, [orgId]);
}
