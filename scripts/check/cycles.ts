import { importsOf, isTest, sources } from "./sources.ts";

/** Files that import each other in a ring, each ring once. */
export async function cycleFaults(): Promise<string[]> {
  const graph = new Map(
    sources()
      .filter((source) => !isTest(source.path))
      .map(
        (source) =>
          [
            source.path,
            importsOf(source)
              .filter((item) => !item.typeOnly)
              .map((item) => item.to),
          ] as const,
      ),
  );
  const done = new Set<string>();
  const faults = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      faults.add([...trail.slice(start), path].join(" → "));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) if (graph.has(next)) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return [...faults];
}
