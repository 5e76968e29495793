import { withoutInvisible } from "#contract/core/characters";
import { OutboundRefused } from "#server/platform/guarded-fetch";
import type { Services } from "#server/services";
import type { DeliveryRow, WebhookRow } from "../queries.ts";
import { wayTo } from "../safe-target.ts";
import { requestOf } from "./request-of.ts";

/** What came of one attempt. */
export interface Answer {
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly responseTimeMs: number;
  /** Null: it arrived. */
  readonly errorMessage: string | null;
  /** Another attempt would be refused too. */
  readonly isFinal: boolean;
}

const BODY_MAX_CHARS = 1_000;
/** Shorter secrets would blank out half of an answer, and are none. */
const SECRET_MIN_CHARS = 6;

/** Makes one attempt. Undefined where this server stopped it: it counts as not made. */
export async function attemptDelivery(
  services: Services,
  webhook: WebhookRow,
  delivery: DeliveryRow,
  stopped: AbortSignal,
): Promise<Answer | undefined> {
  const began = performance.now();
  const told = (answer: Omit<Answer, "responseTimeMs">) => ({
    ...answer,
    responseTimeMs: Math.round(performance.now() - began),
  });
  try {
    const at = { attempt: delivery.attempts + 1, nowMs: services.clock.nowMs() };
    const { secrets, url, ...request } = requestOf(services.vault, webhook, delivery, at);
    const { status, text, isPrivate } = await wayTo(services, webhook.writtenBy).post(url, {
      ...request,
      signal: stopped,
    });
    return told({
      responseStatus: status,
      responseBody: isPrivate ? null : kept(text, secrets),
      errorMessage: status >= 200 && status < 300 ? null : `The receiver answered ${status}`,
      isFinal: status === 410,
    });
  } catch (error) {
    if (stopped.aborted) return undefined;
    const failed = { responseStatus: null, responseBody: null };
    if (error instanceof OutboundRefused)
      return told({ ...failed, errorMessage: error.message, isFinal: unsafe.has(error.reason) });
    services.log.error("webhook.attempt_failed", { deliveryId: delivery.id, error: error as Error });
    return told({ ...failed, errorMessage: "The delivery could not be made", isFinal: false });
  }
}

const unsafe: ReadonlySet<string> = new Set(["not_https", "credentials_in_url", "private_address"]);

/** The beginning of an answer, without what the receiver may have repeated of the request's secrets. */
function kept(text: string, secrets: readonly string[]): string {
  const told = secrets
    .flatMap(repeatedAs)
    .filter((form) => form.length >= SECRET_MIN_CHARS)
    // One may be the beginning of another.
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, form) => left.replaceAll(form, "********"), text);
  return [...withoutInvisible(told.slice(0, 2 * BODY_MAX_CHARS))].slice(0, BODY_MAX_CHARS).join("").toWellFormed();
}

/** As it came over the wire, without the scheme in front of it, and either inside JSON. */
function repeatedAs(secret: string): string[] {
  const sent = secret.trim();
  const [, credential] = /^\S+ +(\S+)$/.exec(sent) ?? [];
  return [sent, credential ?? ""].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
}
