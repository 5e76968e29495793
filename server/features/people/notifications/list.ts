import type { Endpoint } from "#contract/core/endpoint";
import type { notifications } from "#contract/resources/people/notifications";
import { getNamedOrg } from "#server/access/org-access";
import { paginate } from "#server/db/paginate";
import { type Call, user } from "#server/http/call";
import { ownOf, unreadOf, view } from "./queries.ts";

type ListCall = typeof notifications.list extends Endpoint<infer T> ? Call<T> : never;

/** The newest first. */
export async function listNotifications(call: ListCall) {
  const who = user(call);
  const { orgId, type, unreadOnly } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  let query = call.db
    .selectFrom("notifications")
    .selectAll()
    .where(ownOf(who))
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc");
  if (orgId !== undefined) query = query.where("notifications.orgId", "=", orgId);
  if (type !== undefined) query = query.where("notifications.type", "=", type);
  if (unreadOnly) query = query.where("notifications.readAt", "is", null);
  const { data, pagination } = await paginate(query, call.query);
  return { data: data.map(view), pagination, unreadCount: await unreadOf(call.db, who) };
}

export async function countUnread(call: Pick<Call, "who" | "db">) {
  return { count: await unreadOf(call.db, user(call)) };
}
