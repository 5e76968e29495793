import type { ExpressionBuilder, Insertable } from "kysely";
import type { Database } from "#server/db/tables";
import type { Tx } from "#server/db/unit-of-work";
import { after, HOUR } from "#server/platform/clock";
import type { EventServices } from "#server/room-hooks";
import { HOURLY_MAX, KEPT_MAX, moreUrgent } from "./rules.ts";

type Row = Insertable<Database["notifications"]>;

/** Whoever is told: as staff of the partner, or as a member of the organization alone. */
export interface Told {
  readonly userId: string;
  readonly asStaff: boolean;
}

export type Said = Omit<Row, "id" | "userId" | "more" | "readAt" | "createdAt" | "updatedAt">;

/**
 * Adds a row, or counts it where the hour is full, and drops what is too much. The caller holds the person's lock: two
 * producers never count the same rows. Limits are those of the tenant whose sessions show the row, so that one tenant's
 * noise takes no room from another's.
 */
export async function addNotification(
  tx: Tx,
  { clock, random }: Pick<EventServices, "clock" | "random">,
  told: Told,
  said: Said,
): Promise<void> {
  const now = clock.now();
  const ofTenant = inTenant(told, said);
  const recent = (query = tx.selectFrom("notifications").where(ofTenant)) =>
    query.where("type", "=", said.type).where("createdAt", ">", after(now, -HOUR));
  const row = { ...said, userId: told.userId, more: null, readAt: null, createdAt: now, updatedAt: now };
  const { count } = await recent()
    .where("more", "is", null)
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) < HOURLY_MAX) {
    await tx
      .insertInto("notifications")
      .values({ ...row, id: random.uuid() })
      .execute();
    await dropOldest(tx, ofTenant);
    return;
  }
  const counting = await recent().where("more", "is not", null).select(["id", "priority", "more"]).executeTakeFirst();
  if (counting) {
    const priority = moreUrgent(counting.priority, said.priority);
    await tx
      .updateTable("notifications")
      .set({ more: (counting.more ?? 0) + 1, priority, readAt: null, updatedAt: now })
      .where("id", "=", counting.id)
      .execute();
    return;
  }
  await tx
    .insertInto("notifications")
    .values({ ...row, ...countingText, id: random.uuid(), more: 1 })
    .execute();
  await dropOldest(tx, ofTenant);
}

const countingText = {
  title: "More",
  message: `More than ${HOURLY_MAX} of this type came within an hour; the rest are only counted.`,
  link: null,
  metadata: {},
};

type Builder = ExpressionBuilder<Database, "notifications">;

const inTenant =
  ({ userId, asStaff }: Told, { partnerId, orgId }: Said) =>
  (eb: Builder) =>
    eb.and([
      eb("userId", "=", userId),
      asStaff ? eb("partnerId", partnerId ? "=" : "is", partnerId ?? null) : eb("orgId", "=", orgId ?? null),
    ]);

async function dropOldest(tx: Tx, ofTenant: ReturnType<typeof inTenant>): Promise<void> {
  const surplus = tx
    .selectFrom("notifications")
    .select("id")
    .where(ofTenant)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(HOURLY_MAX)
    .offset(KEPT_MAX);
  await tx.deleteFrom("notifications").where("id", "in", surplus).execute();
}
