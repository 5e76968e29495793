import type { Kysely } from "kysely";
import type { Database } from "#server/db/tables";

const told = (db: Kysely<Database>) =>
  db
    .selectFrom("events")
    .select(["kind", "orgId", "partnerId", "siteId", "subjectType", "subjectId", "data"])
    .orderBy("seq");

export type ToldEvent = Awaited<ReturnType<typeof eventsAfter>>[number];

/** What was told of a subject so far, in order. */
export const eventsOf = async (db: Kysely<Database>, subjectId: string) =>
  (await told(db).where("subjectId", "=", subjectId).execute()).map(({ subjectId: _, ...event }) => event);

export const lastEvent = async (db: Kysely<Database>): Promise<number> =>
  (await db.selectFrom("events").select("seq").orderBy("seq", "desc").limit(1).executeTakeFirst())?.seq ?? 0;

export const eventsAfter = (db: Kysely<Database>, seq: number) => told(db).where("seq", ">", seq).execute();
