import type { Anchor } from "#server/audit/anchor-format";
import type { AuditVerify } from "#server/audit/verify-result";
import type { AnchorKeys } from "./anchor-keys.ts";
import { breakFindings, type Finding, problemFinding } from "./findings.ts";

/** What is known of a chain after it was walked, by the server or here. */
export interface Evidence {
  result: AuditVerify;
  /** Anchors of the server or of the bundle, newest first. */
  stored: readonly Anchor[];
  /** Anchors kept elsewhere, newest first; undefined: none were given. */
  outside: readonly Anchor[] | undefined;
  /** The verifier did not have the anchors kept elsewhere: they are compared here. */
  compareOutside: boolean;
  keys: AnchorKeys;
  requireAnchor: boolean;
  /** `anchorHash` of the server's audit room. */
  hashOf(anchor: Anchor): string;
}

export type Verdict = "ok" | "broken" | "not_provable";

/** How much of the chain anchors cover. */
export interface Anchored {
  /** Newest position that an anchor with a good signature covers (any anchor where no key is known); 0 = none. */
  through: number;
  /** Different anchors that were looked at, signed ones among them, and those whose signature verifies. */
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
  const { result, stored, outside, keys, requireAnchor, hashOf } = evidence;
  const head = result.head?.chainSeq ?? 0;
  const anchors = [...stored, ...(outside ?? [])];
  const findings = [
    ...breakFindings(result),
    ...result.anchors.problems.filter((problem) => isOpen(problem, anchors)).map(problemFinding),
    ...(outside !== undefined && evidence.compareOutside ? outsideFindings(evidence, outside) : []),
    ...signatureFindings(anchors, keys),
  ];
  const covers = (list: readonly Anchor[], valid: (anchor: Anchor) => boolean) =>
    list.filter((anchor) => anchor.headChainSeq <= head && valid(anchor));
  if (requireAnchor && covers(outside ?? stored, keys.valid).length === 0) {
    const where = outside === undefined ? "" : " in the anchor file";
    const message = keys.known
      ? `an anchor is required, and none${where} at or before position ${head} has a signature that verifies`
      : "an anchor is required, and there is no key to verify one with: give --public-key";
    findings.push({ severity: "unproven", kind: "unanchored", chainSeq: null, message });
  }
  const good = covers(anchors, (anchor) => !keys.known || keys.valid(anchor));
  const seen = [...new Map(anchors.map((anchor) => [`${hashOf(anchor)} ${anchor.signature}`, anchor])).values()];
  return {
    verdict: verdictOf(findings),
    findings,
    anchored: {
      through: Math.max(0, ...good.map((anchor) => anchor.headChainSeq)),
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

type Problem = AuditVerify["anchors"]["problems"][number];

/** Signatures are looked at here, with the keys of this run, wherever the anchor itself is at hand. */
function isOpen({ reason, anchorSeq }: Problem, anchors: readonly Anchor[]): boolean {
  if (reason === "count_shrank") return false;
  if (reason !== "signature_invalid") return true;
  const meant = anchors.filter((anchor) => anchor.anchorSeq === anchorSeq);
  return meant.length === 0 || meant.some(({ signature }) => signature === null);
}

function signatureFindings(anchors: readonly Anchor[], keys: AnchorKeys): Finding[] {
  if (!keys.known) return [];
  const seen = new Set<string>();
  return anchors.flatMap((anchor): Finding[] => {
    const { anchorSeq, headChainSeq: chainSeq, signature, signingKeyId } = anchor;
    if (signature === null || keys.valid(anchor)) return [];
    const foreign = !keys.ids.has(signingKeyId ?? "");
    const message = foreign
      ? `anchor ${anchorSeq} is signed with ${signingKeyId}, a key that is not known here`
      : `the signature of anchor ${anchorSeq} is wrong`;
    if (seen.has(message)) return [];
    seen.add(message);
    return foreign
      ? [{ severity: "unproven", kind: "unknown_key", chainSeq, message }]
      : [{ severity: "broken", kind: "signature_invalid", chainSeq, message }];
  });
}

/** Anchors leave the database when they are made, so the server must have each one, and the same. */
function outsideFindings({ result, stored, hashOf }: Evidence, outside: readonly Anchor[]): Finding[] {
  const known = new Map(stored.map((anchor) => [anchor.anchorSeq, hashOf(anchor)]));
  const { head, prunedPrefix } = result;
  const broken = (kind: string, anchor: Anchor, message: string): Finding => ({
    severity: "broken",
    kind,
    chainSeq: anchor.headChainSeq,
    message: `anchor ${anchor.anchorSeq}, kept elsewhere, ${message}`,
  });
  return outside.flatMap((anchor): Finding[] => {
    const { headChainSeq, headChainHash } = anchor;
    const emptied = head === null && prunedPrefix;
    if (headChainSeq > (head?.chainSeq ?? 0) && !emptied)
      return [
        broken(
          "seq_regressed",
          anchor,
          `covers position ${headChainSeq}, but the chain ends at ${head?.chainSeq ?? 0}`,
        ),
      ];
    if (headChainSeq === head?.chainSeq && headChainHash !== head.chainHash)
      return [broken("hash_diverged", anchor, `has another hash at position ${headChainSeq} than the chain`)];
    const hash = known.get(anchor.anchorSeq);
    if (hash === undefined)
      return [broken("anchor_lost", anchor, "is unknown to the server: its record of it is gone")];
    return hash === hashOf(anchor)
      ? []
      : [broken("hash_diverged", anchor, `says something else than the server's anchor ${anchor.anchorSeq}`)];
  });
}
