import type { Endpoint } from "#contract/core/endpoint";
import type { passwords } from "#contract/resources/sign-in/passwords";
import { trustedBase } from "#server/features/sign-in/core/trusted-base";
import type { Call } from "#server/http/call";
import { enqueueJob } from "#server/jobs/queue";
import { clientBlock } from "#server/platform/ip-address";
import { forgotPerAddress } from "./rules.ts";

type ForgotCall = typeof passwords.forgot extends Endpoint<infer T> ? Call<T> : never;

/**
 * Queues the look-up and the mail, and answers the same at once: neither the answer nor its time tells
 * whether the account exists, because nothing is looked up before it.
 */
export async function forgotPassword(call: ForgotCall) {
  const { allowed } = await call.services.limiter.take(forgotPerAddress, clientBlock(call.ip));
  const base = trustedBase(call);
  if (allowed) {
    const payload = { email: call.body.email, ...(base !== undefined && { base }) };
    await call.asSystem("queue work", (tx) => enqueueJob(tx, call.services, { kind: "passwords.forgot", payload }));
  }
  return {
    success: true as const,
    message: "If an account with this email exists, a link to reset its password is on its way",
  };
}
