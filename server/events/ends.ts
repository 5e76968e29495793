import type { UnitOfWork } from "#server/db/unit-of-work";
import { NUMBERING } from "./cursors.ts";

type Unscoped = Pick<UnitOfWork, "readAsSystem">;

/**
 * The last position given. Whoever reads with a filter reads this first: it has seen everything up to here, also where
 * nothing passed the filter.
 */
export const endOfEvents = (all: Unscoped): Promise<number> =>
  all.readAsSystem("hand out events", async (db) => {
    const cursor = db.selectFrom("eventCursors").select("position").where("consumer", "=", NUMBERING);
    return (await cursor.executeTakeFirstOrThrow()).position;
  });

/** The first position that is still kept, whoever's event it is; undefined where the log is empty. */
export const startOfEvents = (all: Unscoped): Promise<number | undefined> =>
  all.readAsSystem("hand out events", async (db) => {
    const first = db.selectFrom("events").select("position").where("position", "is not", null);
    return (await first.orderBy("position").limit(1).executeTakeFirst())?.position ?? undefined;
  });
