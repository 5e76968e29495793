import { UnitOfWork } from "#server/db/unit-of-work";
import type { Services } from "#server/services";
import { holdCursor, NUMBERING } from "./cursors.ts";

/** Events that one step gives a position. */
export const NUMBERED_MAX = 500;

/**
 * Gives committed events the next positions, in the order in which they were written, and answers how many. One process
 * at a time does it, so that positions have no gaps and a smaller one never appears after a greater: a cursor passes
 * nothing that commits late.
 */
export async function numberEvents(services: Services): Promise<number> {
  const unit = new UnitOfWork(services, { kind: "none" });
  const waiting = await unit.readAsSystem("hand out events", (db) =>
    db.selectFrom("events").select("seq").where("position", "is", null).limit(1).executeTakeFirst(),
  );
  if (!waiting) return 0;
  return unit.asSystem("hand out events", async (tx) => {
    const last = await holdCursor(services, tx, NUMBERING);
    if (!last) return 0;
    const { numUpdatedRows } = await tx
      .updateTable("events")
      .from((eb) =>
        eb
          .selectFrom("events as waiting")
          .select((of) => [
            "seq",
            of.fn
              .agg<number>("row_number")
              .over((over) => over.orderBy("seq"))
              .as("rank"),
          ])
          .where("position", "is", null)
          .orderBy("seq")
          .limit(NUMBERED_MAX)
          .as("next"),
      )
      .set((eb) => ({ position: eb(eb.ref("next.rank"), "+", eb.val(last.position)) }))
      .whereRef("events.seq", "=", "next.seq")
      .executeTakeFirst();
    const numbered = Number(numUpdatedRows);
    await tx
      .updateTable("eventCursors")
      .set({ position: last.position + numbered })
      .where("consumer", "=", NUMBERING)
      .execute();
    return numbered;
  });
}
