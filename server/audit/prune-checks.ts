import type { PruneRecord } from "./anchor-format.ts";

const DAY = 24 * 60 * 60 * 1_000;

/** Why a prune record does not count (docs/audit-format.md, "1. Statements"). */
export const pruneFaults = [
  "prune_of_another_chain",
  "prune_of_no_organization",
  "prune_diverged",
  "prune_unsigned",
  "prune_signature_invalid",
  "prune_too_young",
  "prune_out_of_order",
  "prune_not_in_file",
  "prune_beyond_anchor",
] as const;
export type PruneFault = (typeof pruneFaults)[number];

/** What else is known of the chain when its prune records are judged. */
export interface PruneContext {
  /** Where anchors say the chain stood, and when (milliseconds). */
  heads: readonly { at: number; head: number }[];
  /** The anchor file's first and last anchorSeq of the chain, and whether it holds this very record. */
  file: { first: number; last: number; holds(record: PruneRecord): boolean } | undefined;
}

/**
 * Judges prune records, by rising anchorSeq, by what they say themselves and by the anchors around them. Whether they
 * are signed, and follow their predecessor, was seen before.
 */
export function judgePrunes(
  records: readonly PruneRecord[],
  context: PruneContext,
): (record: PruneRecord) => PruneFault | undefined {
  const lowestAfter = lowestHeads(context.heads);
  const outOfOrder = new Set<PruneRecord>();
  let through = 0;
  let before = 0;
  for (const record of records) {
    if (record.restates === true && before > 0) outOfOrder.add(record);
    if (record.anchorSeq > before && !(record.prunedThroughSeq > through)) outOfOrder.add(record);
    through = Math.max(through, record.prunedThroughSeq);
    before = record.anchorSeq;
  }
  return (record) => {
    if (record.chainKind !== "organization") return "prune_of_no_organization";
    const cutoff = Date.parse(record.cutoff);
    if (!(cutoff <= Date.parse(record.prunedAt) - DAY)) return "prune_too_young";
    if (outOfOrder.has(record)) return "prune_out_of_order";
    const { file } = context;
    // Unsigned records are not copied from the database later, so a second process's file honestly lacks them.
    const between = file && record.anchorSeq > file.first && record.anchorSeq < file.last;
    if (between && record.signature !== null && !file.holds(record)) return "prune_not_in_file";
    const lowest = lowestAfter(cutoff + DAY, record.restates === true);
    return record.prunedThroughSeq <= lowest ? undefined : "prune_beyond_anchor";
  };
}

/**
 * The lowest head anchored after a moment: what follows it came later still, and so was not old enough to go. Anchors
 * of an emptied chain said 0 once, when prune records were not signed yet.
 */
function lowestHeads(heads: PruneContext["heads"]): (moment: number, ignoreEmpty: boolean) => number {
  const sorted = [...heads].sort((a, b) => a.at - b.at);
  const lowest = new Float64Array(sorted.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let index = sorted.length - 1; index >= 0; index -= 1)
    lowest[index] = Math.min(lowest[index + 1]!, sorted[index]!.head);
  return (moment, ignoreEmpty) => {
    if (ignoreEmpty)
      return Math.min(...sorted.filter(({ at, head }) => at > moment && head > 0).map(({ head }) => head));
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle]!.at > moment) to = middle;
      else from = middle + 1;
    }
    return lowest[from]!;
  };
}
