import { isDeepStrictEqual } from "node:util";

/** What makes rows of a reported list out of the stored ones. */
export interface RowChanges<R> {
  readonly added: readonly R[];
  readonly changed: readonly { readonly id: string; readonly row: R }[];
  readonly gone: readonly string[];
}

/**
 * Rows that are alike by `keyOf` keep their id; of several alike the equal ones are paired first, the others in their
 * order. The same list in any order changes nothing.
 */
export function rowChanges<R extends object>(
  stored: readonly (R & { id: string })[],
  reported: readonly R[],
  keyOf: (row: R) => string,
): RowChanges<R> {
  const left = new Map<string, { id: string; row: object }[]>();
  for (const { id, ...row } of stored) {
    const key = keyOf(row as unknown as R);
    const known = left.get(key);
    if (known) known.push({ id, row });
    else left.set(key, [{ id, row }]);
  }
  const unequal = reported.filter((row) => {
    const alike = left.get(keyOf(row)) ?? [];
    const equal = alike.findIndex((one) => isDeepStrictEqual(one.row, row));
    if (equal >= 0) alike.splice(equal, 1);
    return equal < 0;
  });
  const [added, changed]: [R[], { id: string; row: R }[]] = [[], []];
  for (const row of unequal) {
    const old = left.get(keyOf(row))?.shift();
    if (old) changed.push({ id: old.id, row });
    else added.push(row);
  }
  return { added, changed, gone: [...left.values()].flat().map(({ id }) => id) };
}
