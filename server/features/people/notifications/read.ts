import type { Endpoint } from "#contract/core/endpoint";
import type { notifications } from "#contract/resources/people/notifications";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { isOwn, ownOf, view } from "./queries.ts";

type ReadCall = typeof notifications.read extends Endpoint<infer T> ? Call<T> : never;

/** Repeated, it changes nothing: what was read first stays the time of it. */
export async function readNotification(call: ReadCall) {
  const { own, within } = ownOf(user(call));
  const { id } = call.params;
  const read = call.body?.read ?? true;
  const now = call.clock.now();
  return call.transaction(async (tx) => {
    await tx
      .updateTable("notifications")
      .set({ readAt: read ? now : null, updatedAt: now })
      .where("notifications.id", "=", id)
      .where("notifications.readAt", read ? "is" : "is not", null)
      .where(isOwn(tx, own, within))
      .execute();
    const row = await tx
      .selectFrom("notifications")
      .selectAll()
      .where("id", "=", id)
      .where(isOwn(tx, own, within))
      .executeTakeFirst();
    if (!row) throw problem("NOT_FOUND");
    return view(row);
  });
}
