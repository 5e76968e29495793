import { withIds } from "#server/db/dialect/json";
import { word } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Reader } from "#server/db/unit-of-work";

/** Commands that no agent has collected yet. The word is no parameter: what is open has an index of its own. */
const countsOf = preparedRows(
  (db, { ids }: { ids: string[] }) =>
    withIds(db, "devices", ids)
      .innerJoin("deviceCommands", (join) =>
        join.onRef("deviceCommands.orgId", "=", "devices.orgId").onRef("deviceCommands.deviceId", "=", "devices.id"),
      )
      .where("deviceCommands.status", "=", word("pending"))
      .groupBy("devices.id")
      .select((eb) => ["devices.id", eb.fn.countAll<number>().as("count")]),
  { by: "key" },
);

/** How many of these devices' commands wait for their agents, each with its device (docs/fleet.md, "Listing devices"). */
export async function withPending<Row extends { readonly id: string }>(db: Reader, rows: readonly Row[]) {
  if (rows.length === 0) return [];
  const counts = await countsOf(db, { ids: rows.map(({ id }) => id) }, null);
  const known = new Map(counts.map(({ id, count }) => [id, Number(count)]));
  return rows.map((row) => ({ ...row, pendingCommandCount: known.get(row.id) ?? 0 }));
}
