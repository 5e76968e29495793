import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { problem } from "#server/problem";
import { refuseMask, shownAddress, targetOf } from "./address.ts";
import { refuseHeaders, refuseUnknownEvents } from "./fields.ts";
import { getWebhook } from "./queries.ts";
import { defaultPolicy, webhooksPerOrganization } from "./rules.ts";
import { refuseUnsafe } from "./safe-target.ts";
import { sealHeaders, sealSecret, sealUrl } from "./sealed.ts";
import { shownWebhook } from "./view.ts";

type Types = typeof webhooks.create extends Endpoint<infer T> ? T : never;
type CreateCall = Call<Types>;

/** Creates an active webhook. Only this answer shows a secret that was made for it. */
export const createWebhook = afterAsking<Types, void>(judge, insertWebhook);

/** Everything that can refuse the request, with the look at the address last. */
async function judge(call: CreateCall): Promise<void> {
  refuseSiteRestricted(call);
  const { orgId, url, events, headers } = call.body;
  await orgForCreate(call, orgId);
  refuseUnknownEvents(events);
  refuseHeaders(headers);
  refuseMask(url);
  await refuseUnsafe(call, url, user(call).scope);
}

function insertWebhook(call: CreateCall) {
  return call.transaction(async (tx) => {
    const { body, services } = call;
    const org = await orgForCreate(call, body.orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name: body.name }, owner: { orgId: org.id } });
    await holdPlace(call, tx, org.id);
    const made = body.secret === undefined ? `whsec_${call.random.bytes(32).toString("base64url")}` : undefined;
    const now = call.clock.now();
    const webhook = {
      id,
      orgId: org.id,
      name: body.name,
      urlSealed: sealUrl(services.vault, id, body.url),
      urlShown: shownAddress(body.url),
      target: targetOf(body.url),
      events: body.events,
      headerKeys: body.headers.map(({ key }) => key),
      headersSealed: sealHeaders(services.vault, id, body.headers),
      secretSealed: sealSecret(services.vault, id, body.secret ?? (made as string)),
      retryPolicy: { ...defaultPolicy, ...body.retryPolicy },
      status: "active" as const,
      writtenBy: user(call).scope,
      successCount: 0,
      failureCount: 0,
      consecutiveFailures: 0,
      lastDeliveryAt: null,
      lastSuccessAt: null,
      createdBy: user(call).userId,
      createdAt: now,
      updatedAt: now,
    };
    await writeCredentials(call, (all) => all.insertInto("webhooks").values(webhook).execute());
    call.audit.note({ details: { events: body.events, headers: body.headers.map(({ key }) => key) } });
    const shown = shownWebhook(await getWebhook(tx, id));
    return made === undefined ? shown : { ...shown, secret: made };
  });
}

/** One at a time per organization; a closing one waits for this webhook, and then pauses it with the others. */
async function holdPlace({ services }: CreateCall, tx: Tx, orgId: string): Promise<void> {
  const row = tx.selectFrom("organizations").select("id").where("id", "=", orgId);
  await held(row, services.store.dialect).execute();
  const { number } = await tx
    .selectFrom("webhooks")
    .select(({ fn }) => fn.countAll<number>().as("number"))
    .where("orgId", "=", orgId)
    .executeTakeFirstOrThrow();
  const { max } = webhooksPerOrganization;
  if (Number(number) >= max) throw problem("LIMIT_REACHED", { details: { limit: max } });
}
