import { type Import, importsOf, isTest, sources } from "./sources.ts";

/** Known cycles, each as it would be reported. The list may only shrink. */
const exceptions: readonly string[] = [];

/** Files that import each other in a cycle, by values, by types alone, or by a module that is loaded later. */
export async function cycleFaults(): Promise<string[]> {
  const files = sources({ generated: true }).filter(({ path }) => !isTest(path));
  const found = ringsOf(files.flatMap(importsOf));
  const mended = exceptions.filter((ring) => !found.includes(ring));
  return [
    ...found.filter((ring) => !exceptions.includes(ring)),
    ...mended.map((ring) => `${ring} is no more: take it off the list in scripts/check/cycles.ts`),
  ];
}

/** Each cycle once, from its first file by name: `a → b → a`; marked if only types or later imports close it. */
export function ringsOf(imports: readonly Import[]): string[] {
  const values = rings(imports.filter(({ typeOnly }) => !typeOnly));
  const all = rings(imports);
  return [...values, ...[...all].filter((ring) => !values.has(ring)).map((ring) => `${ring} (types, or loaded later)`)];
}

function rings(imports: readonly Import[]): Set<string> {
  const graph = new Map<string, string[]>();
  for (const { from, to } of imports) graph.set(from, [...(graph.get(from) ?? []), to]);
  const done = new Set<string>();
  const found = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.add(fromFirst(trail.slice(start)).join(" → "));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

/** Rotates a cycle so that it begins and ends with its first file by name. */
function fromFirst(ring: readonly string[]): string[] {
  const first = ring.indexOf(ring.toSorted()[0] as string);
  return [...ring.slice(first), ...ring.slice(0, first + 1)];
}
