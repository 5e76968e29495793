import type { CodePoints } from "./code-points.ts";

/**
 * A pattern of the dialect (docs/filters.md, "Patterns"). Its leaves say in full which characters they stand for, so
 * that every engine which it is written out for means the same by it. Whether repetition is greedy does not matter to
 * whether something matches, and is left out.
 */
export type PatternTree =
  | { readonly kind: "one"; readonly of: CodePoints }
  | { readonly kind: "start" | "end" | "edge" | "noEdge" }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternTree[] }
  /** `most` undefined = without end. */
  | { readonly kind: "repeat"; readonly of: PatternTree; readonly least: number; readonly most: number | undefined };

export const sequence = (parts: readonly PatternTree[]): PatternTree =>
  parts.length === 1 ? (parts[0] as PatternTree) : { kind: "sequence", parts };

export const choice = (parts: readonly PatternTree[]): PatternTree =>
  parts.length === 1 ? (parts[0] as PatternTree) : { kind: "choice", parts };

/** The largest count that engines take. */
const MERGED_MAX = 250;

/** Repetition of what may be left out needs no repetition within: engines take long to find that out. */
export function repeat(of: PatternTree, least: number, most: number | undefined): PatternTree {
  if (of.kind !== "repeat" || of.least > 0) return { kind: "repeat", of, least, most };
  const merged = most === undefined || of.most === undefined ? undefined : of.most * most;
  if (most === 0 || (merged ?? 0) > MERGED_MAX) return { kind: "repeat", of, least, most };
  return { kind: "repeat", of: of.of, least: 0, most: merged };
}
