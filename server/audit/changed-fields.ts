import { isDeepStrictEqual } from "node:util";

/**
 * Names of the fields whose value changes: audit details name fields and hold no values
 * (docs/audit.md, "Which requests are recorded").
 */
export function changedFields(before: object, change: object): string[] {
  const old = before as Record<string, unknown>;
  return Object.entries(change)
    .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, old[name]))
    .map(([name]) => name);
}
