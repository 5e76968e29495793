import { setTimeout as pause } from "node:timers/promises";
import type { Context } from "../../context.ts";
import { exitCode } from "../../errors/exit-codes.ts";

const EVERY_MS = 2_000;
const REMEMBERED_MAX = 20_000;
/** Between two looks; beyond that a list runs faster than anybody reads. */
const NEW_MAX = 2_000;

/** A list without end. */
export interface Followed<Row extends { readonly id: string }> {
  /** Writes those that are new, the oldest first. */
  tell(rows: readonly Row[]): Promise<void>;
  /** Of the past, to begin with. */
  readonly first: number;
  /** The newest first. */
  list(signal: AbortSignal): AsyncIterable<Row>;
}

/** A line for each of the last ones and for each that comes, the oldest first, until Ctrl-C. */
export async function followNewest<Row extends { readonly id: string }>(
  { shell: { signal } }: Context,
  { tell, first, list }: Followed<Row>,
): Promise<number> {
  const known = new Set<string>();
  for (let begins = true; !signal.aborted; begins = false) {
    const fresh: Row[] = [];
    const most = begins ? first : NEW_MAX;
    for await (const row of list(signal)) {
      if (known.has(row.id) || fresh.length >= most) break;
      fresh.push(row);
    }
    await tell(fresh.reverse());
    for (const { id } of fresh) known.add(id);
    for (const id of known) {
      if (known.size <= REMEMBERED_MAX) break;
      known.delete(id);
    }
    await pause(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return exitCode("interrupted");
}
