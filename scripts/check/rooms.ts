import { featureRoomOf } from "./room-of.ts";
import { type Import, importsOf, isTest, type Source, sources } from "./sources.ts";

/** Files that no other room may import: queries, and files that the generated registries collect. */
const ownFiles = /\/(queries|routes|schedules|jobs|hooks|consumers)\.ts$/;

/** Imports from one room of `server/features` into another, types included. */
function crossings(files: readonly Source[]): (Import & { fromRoom: string; toRoom: string })[] {
  return files
    .filter((source) => !isTest(source.path))
    .flatMap(importsOf)
    .flatMap((one) => {
      const [fromRoom, toRoom] = [featureRoomOf(one.from), featureRoomOf(one.to)];
      return fromRoom === undefined || toRoom === undefined || fromRoom === toRoom
        ? []
        : [{ ...one, fromRoom, toRoom }];
    });
}

/** Rooms use each other through verbs in files of their own name, and never in a circle (server/README.md, "Rooms"). */
export async function roomFaults(files: readonly Source[] = sources()): Promise<string[]> {
  const crossed = crossings(files);
  const private_ = crossed
    .filter(({ to }) => ownFiles.test(to))
    .map(({ from, to }) => `${from} imports ${to}, which is its room's own: export a verb from a file of its name`);
  return [...private_, ...circles(crossed)];
}

/** Each circle of rooms once, with a file that closes each step. */
function circles(crossed: readonly { from: string; fromRoom: string; toRoom: string }[]): string[] {
  const graph = new Map<string, Map<string, string>>();
  for (const { from, fromRoom, toRoom } of crossed) {
    const steps = graph.get(fromRoom) ?? new Map<string, string>();
    graph.set(fromRoom, steps.set(toRoom, steps.get(toRoom) ?? from));
  }
  const faults = new Set<string>();
  const done = new Set<string>();
  const visit = (room: string, trail: readonly string[]): void => {
    const start = trail.indexOf(room);
    if (start >= 0) {
      const ring = trail.slice(start);
      const steps = ring.map((one, at) => `${one} (${graph.get(one)?.get(ring[at + 1] ?? room)})`);
      faults.add(`rooms in a circle: ${steps.join(" → ")} → ${room}`);
      return;
    }
    if (done.has(room)) return;
    for (const next of graph.get(room)?.keys() ?? []) visit(next, [...trail, room]);
    done.add(room);
  };
  for (const room of graph.keys()) visit(room, []);
  return [...faults];
}
