import type { Endpoint } from "#contract/core/endpoint";
import { eventKinds } from "#contract/core/events";
import { bodyOf } from "#contract/core/webhook-request";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdWebhook } from "./queries.ts";
import { queuedAnswer } from "./queued-answer.ts";
import { TEST_EVENT, testsPerMinute } from "./rules.ts";

type TestCall = typeof webhooks.test extends Endpoint<infer T> ? Call<T> : never;

/** What it says is always a test: nobody makes a receiver believe in an event that was none. */
export async function testWebhook(call: TestCall) {
  refuseSiteRestricted(call);
  const { event: sampleOf = TEST_EVENT, payload = {} } = call.body;
  return call.transaction(async (tx) => {
    const webhook = await holdWebhook(call, tx, call.params.id);
    const { orgId } = webhook;
    await getWritableOrg(call, orgId, tx);
    if (sampleOf !== TEST_EVENT && !(eventKinds as readonly string[]).includes(sampleOf))
      throw problem("UNKNOWN_EVENT", { details: { unknown: [sampleOf] } });
    await takeTest(call, webhook.id);
    const eventId = call.random.uuid();
    const data = { sampleOf, payload };
    const sentBody = bodyOf({ id: eventId, type: TEST_EVENT, timestamp: call.clock.now(), orgId, siteId: null, data });
    call.audit.note({ details: { sampleOf } });
    return queuedAnswer(call, tx, { webhook, event: TEST_EVENT, eventId, sentBody, origin: "test" });
  });
}

/** Within the transaction, so that a refused or repeated call costs nothing. */
export async function takeTest(call: Call, webhookId: string): Promise<void> {
  const { limiter } = call.services;
  const allowance = await call.asSystem("rate limit", (all) => limiter.takeWithin(all, testsPerMinute, webhookId));
  if (allowance.allowed) return;
  const seconds = Math.max(1, Math.ceil((allowance.resetAtMs - call.clock.nowMs()) / 1_000));
  throw problem("RATE_LIMITED", { retryAfterSeconds: seconds, onReplay: "passes" });
}
