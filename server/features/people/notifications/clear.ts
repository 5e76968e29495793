import type { Endpoint } from "#contract/core/endpoint";
import type { notifications } from "#contract/resources/people/notifications";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { ownOf } from "./queries.ts";

type RemoveCall = typeof notifications.remove extends Endpoint<infer T> ? Call<T> : never;

export async function removeNotification(call: RemoveCall) {
  const { numDeletedRows } = await call.transaction((tx) =>
    tx
      .deleteFrom("notifications")
      .where("notifications.id", "=", call.params.id)
      .where(ownOf(user(call)))
      .executeTakeFirst(),
  );
  if (numDeletedRows !== 1n) throw problem("NOT_FOUND");
  return { success: true as const };
}

/** Those of the session's tenant; what the person no longer reaches stays, and is purged by its age. */
export async function clearNotifications(call: Pick<Call, "who" | "transaction">) {
  const { numDeletedRows } = await call.transaction((tx) =>
    tx
      .deleteFrom("notifications")
      .where(ownOf(user(call)))
      .executeTakeFirst(),
  );
  return { success: true as const, deleted: Number(numDeletedRows) };
}
