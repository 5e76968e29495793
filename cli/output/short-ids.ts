/** Those of a moment: ids begin with the time, to the millisecond. */
const SHORTEST_ID = 13;

/** The rows with ids as short as they can be told apart, and not shorter than those of different moments. */
export function beginningsOf(cells: readonly (readonly string[])[], at: number): string[][] {
  const ids = new Set(cells.map((row) => row[at]!));
  const longest = Math.max(SHORTEST_ID, ...[...ids].map((one) => one.length));
  let length = SHORTEST_ID;
  while (length < longest && new Set([...ids].map((one) => one.slice(0, length))).size < ids.size) length += 1;
  return cells.map((row) => row.map((cell, index) => (index === at ? cell.slice(0, length) : cell)));
}
