const CHUNK = 500;

/** Parts of a list that fit into one statement: databases limit how many parameters it takes. */
export function chunks<T>(items: readonly T[], size = CHUNK): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}
