import { expect, it } from "vitest";
import type { ChainStatement } from "./anchor-format.ts";
import { selectStatements } from "./statement-selection.ts";

const HOUR = 3_600_000;
const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * HOUR).toISOString();
const signature = { signature: null, signingKeyId: null };
const place = {
  chainKind: "organization",
  chainId: "0197a000-0000-7000-8000-000000000001",
  prevAnchorHash: null,
} as const;

/** Taken hourly, the first as the first day begins. */
const anchor = (anchorSeq: number): ChainStatement => ({
  ...{ ...place, ...signature, anchorSeq, headChainSeq: anchorSeq, headChainHash: "a", entryCount: anchorSeq },
  ...{ merkleRoot: null, anchoredAt: at(anchorSeq - 1) },
});
const prune = (anchorSeq: number): ChainStatement => ({
  ...{ ...place, ...signature, type: "prune", anchorSeq, prunedThroughSeq: 1, prunedThroughHash: "a", prunedCount: 1 },
  ...{ cutoff: at(0), prunedAt: at(anchorSeq - 1) },
});

it("the newest hundred anchors are verified, before them the last of each day and the very first, and every prune record", () => {
  const selection = selectStatements();
  const pruned = [30, 31, 75];
  for (let seq = 1; seq <= 24 * 10; seq += 1) selection.add(pruned.includes(seq) ? prune(seq) : anchor(seq));
  const kept = selection.kept().map(({ anchorSeq }) => anchorSeq);
  const newest = Array.from({ length: 100 }, (_, index) => 24 * 10 - 99 + index);
  // Days end with numbers 24, 48 … 120; of the sixth day the hundred leave 121 to 140.
  const days = [24, 48, 72, 96, 120, 140];
  expect(kept.toSorted((a, b) => a - b)).toEqual([1, ...pruned, ...days, ...newest].toSorted((a, b) => a - b));
});
