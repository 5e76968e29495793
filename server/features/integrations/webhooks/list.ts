import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { getNamedOrg, orgsInList, refuseSiteRestricted } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { shownWebhook, webhookColumns } from "./view.ts";

type ListCall = typeof webhooks.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listWebhooks(call: ListCall) {
  refuseSiteRestricted(call);
  const { orgId, status } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const page = await pageOf(call.db, call.query, { orgId, status }, null);
  return { ...page, data: await withOrgNames(call.db, page.data.map(shownWebhook)) };
}

type Asked = { orgId: string | undefined; status: ListCall["query"]["status"] };

const pageOf = preparedPage((db, { orgId, status }: Asked) => {
  let query = db.selectFrom("webhooks").select(webhookColumns).where("webhooks.orgId", "in", orgsInList(orgId));
  if (status !== undefined) query = query.where("webhooks.status", "=", status);
  return query.orderBy("webhooks.createdAt", "desc").orderBy("webhooks.id", "desc");
});
