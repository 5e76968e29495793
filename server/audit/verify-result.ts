import type { anchorProblemReasons, auditBreakKinds } from "#contract/core/audit-proof";
import type { Anchor } from "./anchor-format.ts";

export interface AuditBreak {
  kind: (typeof auditBreakKinds)[number];
  chainSeq: number | null;
  auditId: string | null;
  expected: string | null;
  actual: string | null;
}

export interface AnchorProblem {
  anchorSeq: number;
  reason: (typeof anchorProblemReasons)[number];
  anchoredHeadSeq: number;
  liveHeadSeq: number | null;
}

/** Result of a verification (docs/audit.md, "Verification"). `breaks` holds the first 100 of `breakCount`. */
export interface AuditVerify {
  orgId: string | null;
  partnerId: string | null;
  /** No break and no anchor problem but `count_shrank`, which is for information. */
  ok: boolean;
  entriesChecked: number;
  first: { chainSeq: number; prevHash: string | null } | null;
  head: { chainSeq: number; chainHash: string } | null;
  prunedPrefix: boolean;
  breakCount: number;
  breaks: AuditBreak[];
  anchors: { checked: number; signedCount: number; latest: Anchor | null; problems: AnchorProblem[] };
  verifiedAt: string;
  durationMs: number;
}
