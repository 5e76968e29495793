import type { FilterGroup } from "#contract/core/filters/condition";
import type { Call } from "#server/http/call";
import { asPreview, countedMatches } from "./matching-devices.ts";

interface Wanted {
  readonly orgId?: string | undefined;
  readonly limit: number;
}

/** How many devices a checked filter matches in the caller's lists, and the first of them by hostname (docs/filters.md, "Limits"). */
export const previewDevices = (call: Call, filter: FilterGroup, wanted: Wanted) =>
  asPreview(call, async () => {
    const { totalCount, matches, evaluatedAt } = await countedMatches(call, filter, wanted);
    // The key of the order is no field of a device.
    return { totalCount, devices: matches.map(({ key: _, ...device }) => device), evaluatedAt };
  });
