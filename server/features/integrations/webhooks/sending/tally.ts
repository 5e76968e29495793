import type { WebhookRow } from "../queries.ts";
import { FAILURES_MAX } from "../rules.ts";
import type { Outcome } from "./outcome.ts";

/** What deliveries that ended say about their webhook. */
export interface Tally {
  readonly webhook: WebhookRow;
  readonly successes: number;
  readonly failures: number;
  /** At the end; of those that failed the longest row where it is too long. */
  readonly inARow: number;
  readonly isGone: boolean;
}

/** In the order in which they ended. */
export function tallyOf(webhook: WebhookRow, outcomes: readonly Outcome[]): Tally {
  let inARow = webhook.consecutiveFailures;
  let worst = inARow;
  let [successes, failures] = [0, 0];
  for (const { status } of outcomes) {
    if (status === "delivered") [inARow, successes] = [0, successes + 1];
    else if (status === "failed") [inARow, failures] = [inARow + 1, failures + 1];
    worst = Math.max(worst, inARow);
  }
  const isGone = outcomes.some(({ status, responseStatus }) => status === "failed" && responseStatus === 410);
  return { webhook, successes, failures, inARow: worst >= FAILURES_MAX ? worst : inARow, isGone };
}
