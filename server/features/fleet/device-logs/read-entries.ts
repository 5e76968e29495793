import { setImmediate as turn } from "node:timers/promises";

const STRETCH_MS = 10;

/** Reads what a device sent, one by one; other requests get their turn meanwhile. */
export async function readEach<R>(given: readonly unknown[], read: (entry: unknown) => R): Promise<R[]> {
  const done: R[] = [];
  let until = performance.now() + STRETCH_MS;
  for (const entry of given) {
    done.push(read(entry));
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + STRETCH_MS;
  }
  return done;
}
