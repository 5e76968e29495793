import type { Endpoint } from "#contract/core/endpoint";
import type { notifications } from "#contract/resources/people/notifications";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { isOwn, ownOf } from "./queries.ts";

type RemoveCall = typeof notifications.remove extends Endpoint<infer T> ? Call<T> : never;

export async function removeNotification(call: RemoveCall) {
  const { own, within } = ownOf(user(call));
  const { numDeletedRows } = await call.transaction((tx) =>
    tx
      .deleteFrom("notifications")
      .where("notifications.id", "=", call.params.id)
      .where(isOwn(tx, own, within))
      .executeTakeFirst(),
  );
  if (numDeletedRows !== 1n) throw problem("NOT_FOUND");
  return { success: true as const };
}

/** Those of the session's tenant; what the person no longer reaches stays, and is purged by its age. */
export async function clearNotifications(call: Pick<Call, "who" | "transaction">) {
  const { own, within } = ownOf(user(call));
  const { numDeletedRows } = await call.transaction((tx) =>
    tx
      .deleteFrom("notifications")
      .where(isOwn(tx, own, within))
      .executeTakeFirst(),
  );
  return { success: true as const, deleted: Number(numDeletedRows) };
}
