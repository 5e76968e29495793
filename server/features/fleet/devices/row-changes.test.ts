import fc from "fast-check";
import { expect, it } from "vitest";
import { rowChanges } from "./row-changes.ts";

const rows = fc.array(
  fc.record(
    { name: fc.constantFrom("a", "A", "b", "c"), version: fc.constantFrom("1", "2", null) },
    { noNullPrototype: true },
  ),
);
type Row = { name: string; version: string | null };
const keyOf = ({ name }: Row) => name.toLowerCase();
const sorted = (list: readonly object[]) => list.map((row) => JSON.stringify(row)).toSorted();

it("makes the reported list of the stored one, keeps ids of what is alike, and finds nothing to do twice", () => {
  fc.assert(
    fc.property(rows, rows, (before, after) => {
      const stored = before.map((row, at) => ({ id: String(at), ...row }));
      const { added, changed, gone } = rowChanges<Row>(stored, after, keyOf);
      const now = new Map<string, Row>(stored.map(({ id, ...row }) => [id, row]));
      for (const id of gone) expect(now.delete(id)).toBe(true);
      for (const { id, row } of changed) {
        expect(keyOf(now.get(id) as Row)).toBe(keyOf(row));
        now.set(id, row);
      }
      for (const [at, row] of added.entries()) now.set(`new ${at}`, row);
      expect(sorted([...now.values()])).toEqual(sorted(after));
      const alike = (list: readonly Row[], key: string) => list.filter((row) => keyOf(row) === key).length;
      for (const key of ["a", "b", "c"]) {
        const kept = stored.filter(({ id, ...row }) => keyOf(row) === key && !gone.includes(id)).length;
        expect(kept).toBe(Math.min(alike(before, key), alike(after, key)));
      }
      const again = rowChanges<Row>(
        [...now].map(([id, row]) => ({ id, ...row })),
        after.toReversed(),
        keyOf,
      );
      expect(again).toEqual({ added: [], changed: [], gone: [] });
    }),
  );
});
