import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import { type Call, user } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { problem } from "#server/problem";
import { type Planned, plannedChange } from "./change.ts";
import { refuseHeaders, refuseUnknownEvents } from "./fields.ts";
import { giveUpWaiting } from "./give-up-waiting.ts";
import { getWebhook, holdWebhook } from "./queries.ts";
import { queueChanged } from "./queue.ts";
import { refuseUnsafe } from "./safe-target.ts";
import { openUrl } from "./sealed.ts";
import { shownWebhook } from "./view.ts";

type Types = typeof webhooks.update extends Endpoint<infer T> ? T : never;
type UpdateCall = Call<Types>;

/** Omitted fields keep their values (docs/integrations.md, "Webhooks"). */
export const updateWebhook = afterAsking<Types, Planned>(judge, saveChange);

/** Everything that can refuse the request, with the look at the address last. */
async function judge(call: UpdateCall): Promise<Planned> {
  refuseSiteRestricted(call);
  const before = await getWebhook(call.db, call.params.id);
  await getWritableOrg(call, before.orgId);
  if (call.body.events) refuseUnknownEvents(call.body.events);
  if (call.body.headers) refuseHeaders(call.body.headers);
  const { vault } = call.services;
  const planned = plannedChange(vault, before, call.body, user(call).scope);
  if (planned.judgesUrl) {
    const row = { ...before, ...planned.change };
    await refuseUnsafe(call, openUrl(vault, row), row.writtenBy);
  }
  return planned;
}

function saveChange(call: UpdateCall, { before, change, changedFields }: Planned) {
  return call.transaction(async (tx) => {
    const now = await holdWebhook(call, tx, before.id);
    await getWritableOrg(call, now.orgId, tx);
    // What was judged is what is saved over: sealed texts are new with each value.
    const isSame = (["urlSealed", "headersSealed", "secretSealed", "writtenBy", "status"] as const).every(
      (name) => now[name] === before[name],
    );
    const isPolicySame = change.retryPolicy === undefined || isDeepStrictEqual(now.retryPolicy, before.retryPolicy);
    if (!isSame || !isPolicySame) throw problem("CONCURRENT_MODIFICATION");
    const updatedAt = call.clock.now();
    const saved = await writeCredentials(call, (all) =>
      all
        .updateTable("webhooks")
        .set({ ...change, updatedAt })
        .where("id", "=", before.id)
        .executeTakeFirst(),
    );
    if (saved.numUpdatedRows !== 1n) throw problem("NOT_FOUND");
    if (change.status === "paused") await giveUpWaiting(tx, [before.id], updatedAt);
    await queueChanged(tx, [before.orgId]);
    call.audit.note({ details: { changedFields, ...(change.status && { status: change.status }) } });
    return shownWebhook(await getWebhook(tx, before.id));
  });
}
