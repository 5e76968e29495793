import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { listedOrgs, refuseSiteRestricted } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { shownWebhook } from "./view.ts";

type ListCall = typeof webhooks.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listWebhooks(call: ListCall) {
  refuseSiteRestricted(call);
  const { orgId, status } = call.query;
  const orgs = await listedOrgs(call, orgId);
  let query = call.db.selectFrom("webhooks").selectAll("webhooks").where("webhooks.orgId", "in", orgs);
  if (status !== undefined) query = query.where("webhooks.status", "=", status);
  const page = await paginate(query.orderBy("webhooks.createdAt", "desc").orderBy("webhooks.id", "desc"), call.query);
  return { ...page, data: await withOrgNames(call.db, page.data.map(shownWebhook)) };
}
