import type { FilterGroup } from "#contract/core/filters/condition";
import { customKeyOf } from "#contract/core/filters/fields";

/** Filters of an organization. */
export const FILTERS_MAX = 500;
/** JSON of one. */
export const FILTER_BYTES_MAX = 64 * 1_024;

export const bytesOf = (filter: FilterGroup): number => Buffer.byteLength(JSON.stringify(filter));

/** The custom fields that its conditions name, each once. */
export function customKeysOf({ conditions }: FilterGroup): string[] {
  const keys = conditions.flatMap((one) => {
    if ("conditions" in one) return customKeysOf(one);
    return customKeyOf(one.field) ?? [];
  });
  return [...new Set(keys)].sort();
}
