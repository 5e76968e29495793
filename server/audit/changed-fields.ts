import { isDeepStrictEqual } from "node:util";

/** Names of the fields a change really alters: audit details name fields and never hold values (contract 1 A1). */
export function changedFields(before: object, change: object): string[] {
  const old = before as Record<string, unknown>;
  return Object.entries(change)
    .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, old[name]))
    .map(([name]) => name);
}
