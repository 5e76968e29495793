import type { FilterGroup } from "#contract/core/filters/condition";
import { withIds } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { type Match, type Shown, shownColumns } from "./find-devices.ts";
import { asPreview, countedMatches } from "./matching-devices.ts";

interface Wanted {
  readonly orgId?: string | undefined;
  readonly limit: number;
}

/** How many devices a checked filter matches in the caller's lists, and the first of them by hostname (docs/filters.md, "Limits"). */
export const previewDevices = (call: Call, filter: FilterGroup, { orgId, limit }: Wanted) =>
  asPreview(call, async () => {
    const found = await countedMatches(call, filter, { orgId, limit });
    const { totalCount, evaluatedAt } = found;
    const devices = found.isFew ? found.shown.map(({ key: _, ...shown }) => shown) : await shownOf(call, found.matches);
    return { totalCount, devices, evaluatedAt };
  });

async function shownOf({ db }: Pick<Call, "db">, matches: readonly Match[]): Promise<Shown[]> {
  if (matches.length === 0) return [];
  const rows = await byIds(db, { ids: matches.map(({ id }) => id) }, null);
  const known = new Map(rows.map((row) => [row.id, row]));
  // A device may have been removed since its id was read.
  return matches.flatMap(({ id }) => known.get(id) ?? []);
}

const byIds = preparedRows((db, { ids }: { ids: string[] }) => withIds(db, "devices", ids).select(shownColumns), {
  by: "key",
});
