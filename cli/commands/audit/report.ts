import { type ChainStatement, isPrune } from "#server/audit/anchor-format";
import type { AuditVerify } from "#server/audit/verify-result";
import { type Style, styled } from "../../output/colour.ts";
import { escapeControls } from "../../output/escape.ts";
import { counted } from "../../provisioning/budget.ts";
import type { AnchorKeys } from "./anchor-keys.ts";
import type { Finding } from "./findings.ts";
import type { Anchored, Judgement, Verdict } from "./judge.ts";

/** One chain of the audit record. */
export interface ChainName {
  kind: "organization" | "partner" | "system";
  id: string;
  name: string | null;
}

/** What `rmm audit verify` says about one chain: the result of the walk, and what follows from it. */
export interface ChainReport extends Partial<AuditVerify> {
  verdict: Verdict | "not_verified";
  /** True for the verdict `ok` alone. */
  ok: boolean;
  chain: ChainName;
  findings: Finding[];
  anchored: Anchored;
  /** Anchors kept elsewhere that were compared; null when none were given. */
  outsideAnchors: number | null;
  /** The newest of them that verifies, and how many entries came after it; null where none does. */
  since: SinceAnchor | null;
  /** Keys that signatures were checked with, SPKI base64. */
  publicKeys: readonly string[];
  /** Why the chain could not be verified. */
  error: { code: string; message: string } | null;
}

export const reportFields = [
  ...["verdict", "ok", "chain", "findings", "anchored", "outsideAnchors", "since", "publicKeys", "error"],
  ...["orgId", "partnerId", "entriesChecked", "first", "head", "prunedPrefix", "breakCount", "breaks", "anchors"],
  ...["verifiedAt", "durationMs"],
];

export interface SinceAnchor {
  anchorSeq: number;
  chainSeq: number;
  anchoredAt: string;
  newerEntries: number;
}

/** Of anchors kept elsewhere, the newest that a trusted key has signed. */
export function newestOf(
  outside: readonly ChainStatement[] | undefined,
  { known, valid }: AnchorKeys,
  { head }: AuditVerify,
): SinceAnchor | null {
  const newest = (outside ?? []).findLast((one) => !isPrune(one) && (!known || valid(one)));
  if (newest === undefined || isPrune(newest)) return null;
  const { anchorSeq, headChainSeq: chainSeq, anchoredAt } = newest;
  return { anchorSeq, chainSeq, anchoredAt, newerEntries: Math.max(0, (head?.chainSeq ?? 0) - chainSeq) };
}

interface Given {
  chain: ChainName;
  outsideAnchors: number | null;
  since: SinceAnchor | null;
  publicKeys: readonly string[];
}

export const reportOf = (result: AuditVerify, { verdict, findings, anchored }: Judgement, given: Given) =>
  ({
    verdict,
    ...result,
    ok: verdict === "ok",
    ...given,
    findings,
    anchored,
    error: null,
  }) satisfies ChainReport;

export const notVerified = (chain: ChainName, error: { code: string; message: string }): ChainReport => ({
  ...{
    verdict: "not_verified",
    ok: false,
    chain,
    findings: [],
    outsideAnchors: null,
    since: null,
    publicKeys: [],
    error,
  },
  anchored: { through: 0, count: 0, signed: 0, verified: 0 },
});

export const chainText = ({ kind, name, id }: ChainName): string =>
  kind === "system" ? "system" : `${kind} ${name ?? id}`;

const words: Record<ChainReport["verdict"], [text: string, style: Style]> = {
  ok: ["OK", "green"],
  broken: ["BROKEN", "red"],
  not_provable: ["NOT PROVABLE", "yellow"],
  not_verified: ["NOT VERIFIED", "yellow"],
};
const SHOWN_MAX = 20;

/** The verdict for people: a headline, the facts, and each finding with its position. */
export function reportText(report: ChainReport, coloured: boolean): string {
  const [word, style] = words[report.verdict];
  const { chain, findings, error } = report;
  const lines = [
    `${styled(word, style, coloured)}  ${escapeControls(chainText(chain))}`,
    ...(error === null ? factsOf(report) : [`  ${error.message}`]),
    ...findings.slice(0, SHOWN_MAX).map(findingText),
    ...(findings.length > SHOWN_MAX ? [`  … ${findings.length - SHOWN_MAX} more; see --json`] : []),
  ];
  // The first line has control characters of its own: those of the style.
  return `${[lines[0], ...lines.slice(1).map(escapeControls)].join("\n")}\n`;
}

/** What `--all` came to: how many of each verdict, and of the entries. */
export function totalText(reports: readonly ChainReport[]): string {
  const counts = (Object.keys(words) as ChainReport["verdict"][])
    .map((verdict) => ({ verdict, count: reports.filter((report) => report.verdict === verdict).length }))
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => `${count} ${words[verdict][0]}`);
  const entries = reports.reduce((sum, { entriesChecked = 0 }) => sum + entriesChecked, 0);
  return `${counted(reports.length, "chain")}: ${counts.join(", ")}; ${entries.toLocaleString("en-US")} entries checked\n`;
}

const findingText = ({ kind, chainSeq, message }: Finding): string =>
  chainSeq === null ? `  - ${message} [${kind}]` : `  - at position ${chainSeq}: ${message} [${kind}]`;

function factsOf({ entriesChecked = 0, first, head, prunedPrefix, ...report }: ChainReport): string[] {
  const span = head ? `, positions ${first?.chainSeq ?? 1} to ${head.chainSeq}` : "";
  const pruned = prunedPrefix ? "; what came before was removed" : "";
  return [
    `  entries  ${entriesChecked.toLocaleString("en-US")} checked${span}${pruned}`,
    `  head     ${head ? head.chainHash : "the chain is empty"}`,
    `  anchors  ${anchorsText(report.anchored, head?.chainSeq ?? 0)}`,
    ...(report.outsideAnchors === null ? [] : [`  outside  ${report.outsideAnchors} of the anchor file compared`]),
    ...(report.since === null ? [] : [`  since    ${sinceText(report.since)}`]),
  ];
}

const sinceText = ({ anchorSeq, anchoredAt, chainSeq, newerEntries }: SinceAnchor): string =>
  `anchor ${anchorSeq} of ${anchoredAt} (position ${chainSeq}): ${newerEntries} newer ${newerEntries === 1 ? "entry" : "entries"}`;

function anchorsText({ through, count, signed, verified }: Anchored, head: number): string {
  if (count === 0) return "none";
  const seen = `${count} checked, ${signed} signed, ${verified} of them verified`;
  if (through === 0) return `${seen}; none covers an entry`;
  const tail = head - through;
  return tail > 0 ? `${seen}; ${tail} at the end not covered yet` : `${seen}; every entry is covered`;
}
