import type { Endpoint } from "#contract/core/endpoint";
import type { loginBranding } from "#contract/resources/sign-in/login-branding";
import { user } from "#server/access/principal";
import { changedFields } from "#server/audit/changed-fields";
import { lockText } from "#server/db/dialect/locks";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { brandingOf } from "./queries.ts";

type ReplaceCall = typeof loginBranding.replace extends Endpoint<infer T> ? Call<T> : never;

/** The whole of it: what is left out is cleared. */
export async function replaceBranding(call: ReplaceCall) {
  const { partnerId, userId } = user(call);
  if (partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
  return call.transaction(async (tx) => {
    call.audit.note({ resource: { type: "partner", id: partnerId }, owner: { partnerId } });
    await lockText(tx, call.services.store.dialect, `login-branding:${partnerId}`);
    const before = await brandingOf(tx, partnerId);
    const stamp = { updatedBy: userId, updatedAt: call.clock.now() };
    await tx
      .insertInto("partnerLoginBranding")
      .values({ partnerId, ...call.body, ...stamp, createdAt: stamp.updatedAt })
      .onConflict((conflict) => conflict.column("partnerId").doUpdateSet({ ...call.body, ...stamp }))
      .execute();
    call.audit.note({ details: { changedFields: changedFields(before, call.body) } });
    return brandingOf(tx, partnerId);
  });
}
