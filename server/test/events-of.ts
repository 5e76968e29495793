import type { Kysely } from "kysely";
import type { Database } from "#server/db/tables";

/** What was told of a subject so far, in order. */
export const eventsOf = (db: Kysely<Database>, subjectId: string) =>
  db
    .selectFrom("events")
    .select(["kind", "orgId", "partnerId", "siteId", "subjectType", "data"])
    .where("subjectId", "=", subjectId)
    .orderBy("seq")
    .execute();
