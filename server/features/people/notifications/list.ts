import type { Endpoint } from "#contract/core/endpoint";
import type { notifications } from "#contract/resources/people/notifications";
import { getNamedOrg } from "#server/access/org-access";
import { preparedPage } from "#server/db/paginate";
import { type Call, user } from "#server/http/call";
import { isOwn, notificationColumns, type Own, ownOf, unreadOf, view, type Within } from "./queries.ts";

type ListCall = typeof notifications.list extends Endpoint<infer T> ? Call<T> : never;

/** The newest first. */
export async function listNotifications(call: ListCall) {
  const who = user(call);
  const { orgId, type, unreadOnly } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const { own, within } = ownOf(who);
  const asked = { ...own, named: orgId, type, unread: unreadOnly === true };
  const { data, pagination } = await pageOf(call.db, call.query, asked, within);
  return { data: data.map(view), pagination, unreadCount: await unreadOf(call.db, who) };
}

type Asked = Own & { named: string | undefined; type: ListCall["query"]["type"]; unread: boolean };

const pageOf = preparedPage((db, { named, type, unread, ...own }: Asked, within: Within) => {
  let query = db
    .selectFrom("notifications")
    .select(notificationColumns)
    .where(isOwn(db, own, within));
  if (named !== undefined) query = query.where("notifications.orgId", "=", named);
  if (type !== undefined) query = query.where("notifications.type", "=", type);
  if (unread) query = query.where("notifications.readAt", "is", null);
  return query.orderBy("notifications.createdAt", "desc").orderBy("notifications.id", "desc");
});

export async function countUnread(call: Pick<Call, "who" | "db">) {
  return { count: await unreadOf(call.db, user(call)) };
}
