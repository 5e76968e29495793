import type { ExitName } from "./exit-codes.ts";

/** How a run over many items went. */
export interface ItemsRun {
  /** Items that went through. */
  readonly done: number;
  /** Exit codes of those that failed. */
  readonly failed: readonly ExitName[];
  /** Items that were not tried. */
  readonly skipped: number;
  readonly interrupted: boolean;
}

/**
 * The exit code of a run over many items. `partial` says that something went through, also the half of one item; where
 * nothing did, the code says why, as it would for one item: `conflict`, `tryLater` and so on, and `failure` where the
 * reasons differ.
 */
export function exitOfItems({ done, failed, skipped, interrupted }: ItemsRun): ExitName {
  if (failed.length === 0 && skipped === 0) return "ok";
  if (interrupted && skipped > 0) return "interrupted";
  if (failed.includes("unknown")) return "unknown";
  if (done > 0 || failed.includes("partial")) return "partial";
  const [first = "failure", ...others] = new Set(failed);
  return others.length === 0 ? first : "failure";
}
