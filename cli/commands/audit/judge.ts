import { type ChainStatement, isPrune, reachOf, statementHash } from "#server/audit/anchor-format";
import type { CheckedStatements } from "#server/audit/statement-checks";
import type { AuditVerify } from "#server/audit/verify-result";
import type { AnchorKeys } from "./anchor-keys.ts";
import { breakFindings, type Finding, nameOf, problemFinding, pruneFaultOf, statementFinding } from "./findings.ts";

/** `head`: signed anchors reach up to the head. `any`: one stands somewhere at or before it. */
export type RequiredAnchor = "head" | "any";

/** Facts about a chain after it was verified, by the server or locally. */
export interface Evidence {
  result: AuditVerify;
  /** Anchors and prune records of all places, looked at with the keys of this run. */
  checked: CheckedStatements;
  /** External copies; undefined if none were given. */
  outside: readonly ChainStatement[] | undefined;
  keys: AnchorKeys;
  requireAnchor: RequiredAnchor | undefined;
  /** Findings of the comparison with what was kept elsewhere, where whoever walked the chain did not know it. */
  compared: readonly Finding[];
}

export type Verdict = "ok" | "broken" | "not_provable";

/** How much of the chain anchors cover. */
export interface Anchored {
  /** Newest position that a statement with a good signature covers (any statement where no key is known); 0 = none. */
  through: number;
  /** Number of distinct anchors and prune records checked, of signed ones, and of those with a valid signature. */
  count: number;
  signed: number;
  verified: number;
}

export interface Judgement {
  verdict: Verdict;
  findings: Finding[];
  anchored: Anchored;
}

/**
 * Contradictions break a chain. If nothing contradicts but a proof is missing, it is not provable: a beginning that no
 * prune record explains, an unknown key, no anchor although one is required.
 */
export function judge(evidence: Evidence): Judgement {
  const { result, checked, keys } = evidence;
  const seen = distinct([...checked.anchors, ...checked.prunes, ...checked.faults.map(({ statement }) => statement)]);
  const findings = distinctFindings([
    ...checked.faults.map(statementFinding),
    ...breakFindings(
      result.breaks.filter((found) => !isDecidedHere(pruneFaultOf(found), found.chainSeq, seen)),
      result,
    ),
    ...result.anchors.problems.filter((problem) => isOpen(problem, seen)).map(problemFinding),
    ...evidence.compared,
    ...beginningFindings(evidence),
    ...coverFindings(evidence, seen),
  ]);
  const good = reaching(evidence, seen, (statement) => !keys.known || keys.valid(statement));
  return {
    verdict: verdictOf(findings),
    findings,
    anchored: {
      through: Math.max(0, ...good.map(reachOf)),
      count: seen.length,
      signed: seen.filter(({ signature }) => signature !== null).length,
      verified: seen.filter(keys.valid).length,
    },
  };
}

const verdictOf = (findings: readonly Finding[]): Verdict => {
  if (findings.some(({ severity }) => severity === "broken")) return "broken";
  return findings.length > 0 ? "not_provable" : "ok";
};

/** At most one finding per kind and position: the server and this program may find the same. */
const distinctFindings = (findings: readonly Finding[]): Finding[] => {
  const known = new Map<string, Finding>();
  for (const finding of findings) {
    const key = `${finding.kind} ${finding.chainSeq ?? finding.message}`;
    if (!known.has(key)) known.set(key, finding);
  }
  return [...known.values()];
};

const distinct = (statements: readonly ChainStatement[]): ChainStatement[] => [
  ...new Map(statements.map((one) => [`${statementHash(one)} ${one.signature}`, one])).values(),
];

type Problem = AuditVerify["anchors"]["problems"][number];

/** Signatures are looked at here, with the keys of this run, wherever the anchor itself is at hand. */
function isOpen({ reason, anchorSeq }: Problem, seen: readonly ChainStatement[]): boolean {
  if (reason === "count_shrank") return false;
  if (reason !== "signature_invalid") return true;
  const meant = seen.filter((one) => !isPrune(one) && one.anchorSeq === anchorSeq);
  return meant.length === 0 || meant.some(({ signature }) => signature === null);
}

/** Likewise of prune records; what else is wrong with one, the server may see better. */
const isDecidedHere = (fault: string | undefined, chainSeq: number | null, seen: readonly ChainStatement[]): boolean =>
  fault === "prune_signature_invalid" &&
  seen.some((one) => isPrune(one) && one.prunedThroughSeq + 1 === chainSeq && one.signature !== null);

/** Where the chain ends: an emptied one where retention says it was. */
const endOf = ({ result, checked }: Evidence): number =>
  result.head?.chainSeq ?? Math.max(0, ...checked.prunes.map(({ prunedThroughSeq }) => prunedThroughSeq));

const reaching = (
  evidence: Evidence,
  statements: readonly ChainStatement[],
  valid: (statement: ChainStatement) => boolean,
): ChainStatement[] => statements.filter((one) => reachOf(one) <= endOf(evidence) && valid(one));

/** Only its record explains a removed prefix, so the record itself must be provable. */
function beginningFindings({ result, checked, keys }: Evidence): Finding[] {
  const first = result.first?.chainSeq ?? 0;
  const record = checked.prunes.find(({ prunedThroughSeq }) => prunedThroughSeq === first - 1) ?? checked.prunes.at(-1);
  if (!result.prunedPrefix || !record) return [];
  const proven = record.signature === null ? !keys.known : keys.known;
  if (proven) return [];
  const message =
    record.signature === null
      ? `${nameOf(record)}, which says why the beginning is gone, has no signature`
      : `${nameOf(record)}, which says why the beginning is gone, is signed, and there is no key to verify it with`;
  return [{ severity: "unproven", kind: "prune_unproven", chainSeq: record.prunedThroughSeq + 1, message }];
}

function coverFindings(evidence: Evidence, seen: readonly ChainStatement[]): Finding[] {
  const { outside, keys, requireAnchor } = evidence;
  if (requireAnchor === undefined) return [];
  const unanchored = (message: string): Finding[] => [
    { severity: "unproven", kind: "unanchored", chainSeq: null, message: `an anchor is required, and ${message}` },
  ];
  const end = endOf(evidence);
  if (!keys.known) return unanchored("there is no key to verify it with: give --public-key");
  if (reaching(evidence, outside ?? seen, keys.valid).length === 0) {
    const where = outside === undefined ? "" : " in the anchor file";
    return unanchored(`none${where} at or before position ${end} has a signature that verifies`);
  }
  const through = Math.max(...reaching(evidence, seen, keys.valid).map(reachOf));
  if (requireAnchor === "any" || through === end) return [];
  return unanchored(`those that verify end at position ${through}: ${end - through} entries after it are not covered`);
}
