import type { FilterGroup } from "#contract/core/filters/condition";
import type { Call } from "#server/http/call";
import type { devicesInList } from "./devices-in-list.ts";
import { asPreview, countedMatches } from "./matching-devices.ts";

interface Wanted {
  readonly orgId?: string | undefined;
  readonly limit: number;
}

/** How many devices a checked filter matches in the caller's lists, and the first of them by hostname (docs/filters.md, "Limits"). */
export const previewDevices = (call: Call, filter: FilterGroup, { orgId, limit }: Wanted) =>
  asPreview(call, async () => {
    const { matches, totalCount, evaluatedAt, still } = await countedMatches(call, filter, { orgId, limit });
    const ids = matches.map(({ id }) => id);
    const rows = ids.length === 0 ? [] : await still(ids, shown);
    const known = new Map(rows.map((row) => [row.id, row]));
    // A device may have changed since its id was read, and match no more, or have been removed.
    return { totalCount, devices: ids.flatMap((id) => known.get(id) ?? []), evaluatedAt };
  });

/** The fields that answers have, and no others. */
const shown = (devices: ReturnType<typeof devicesInList>) =>
  devices.select([
    "devices.id",
    "devices.hostname",
    "devices.displayName",
    "devices.status",
    "devices.osType",
    "devices.lastSeenAt",
  ]);
