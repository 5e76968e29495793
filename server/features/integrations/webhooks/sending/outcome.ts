import type { RetryPolicy } from "#server/db/tables/integrations";
import { after } from "#server/platform/clock";
import type { DeliveryRow } from "../queries.ts";
import { retryDelayMs } from "../rules.ts";
import type { Answer } from "./attempt.ts";

/** The columns of a delivery that an attempt changes. */
export interface Outcome
  extends Pick<
    DeliveryRow,
    | "id"
    | "status"
    | "attempts"
    | "nextAttemptAt"
    | "responseStatus"
    | "responseBody"
    | "responseTimeMs"
    | "errorMessage"
    | "deliveredAt"
  > {}

/** What an attempt makes of its delivery (docs/integrations.md, "Deliveries"); a test is tried once. */
export function outcomeOf(
  { id, attempts: before, origin }: Pick<DeliveryRow, "id" | "attempts" | "origin">,
  { isFinal, ...answer }: Answer,
  { policy, now, chance }: { policy: RetryPolicy; now: string; chance: number },
): Outcome {
  const attempts = before + 1;
  const common = { id, attempts, ...answer };
  if (answer.errorMessage === null) return { ...common, status: "delivered", nextAttemptAt: null, deliveredAt: now };
  if (isFinal || origin === "test" || attempts > policy.maxRetries)
    return { ...common, status: "failed", nextAttemptAt: null, deliveredAt: null };
  const nextAttemptAt = after(now, retryDelayMs(policy, attempts, chance));
  return { ...common, status: "retrying", nextAttemptAt, deliveredAt: null };
}
