import { type ChainLink, chainHasher, sha256 } from "./chain.ts";
import type { ChainSource, ChainVisitor, PruneRecord } from "./chain-source.ts";
import { type AnchorCheckOptions, anchorChecks } from "./verify-anchors.ts";
import type { AuditBreak, AuditVerify } from "./verify-result.ts";

const BREAKS_MAX = 100;
const ANCHORS_MAX = 100;

/**
 * Walks one chain from its first surviving entry to its head and recomputes every hash, then checks its newest anchors,
 * those of the database and those kept outside. Uses none of the code that writes. Load `outsideAnchors` before the
 * source takes its snapshot, or a growing log looks cut.
 */
export async function verifyChain(source: ChainSource, options: AnchorCheckOptions = {}): Promise<AuditVerify> {
  const started = performance.now();
  const prunes = await source.prunes();
  const stored = await source.anchors(ANCHORS_MAX);
  const anchors = anchorChecks(stored, { ...options, outsideAnchors: options.outsideAnchors?.slice(0, ANCHORS_MAX) });
  const walk = chainWalk(source, prunes, anchors.note);
  await source.walk(walk.visitor);
  const found = walk.result();
  const problems = anchors.problems(found, prunes);
  return {
    orgId: source.chain.kind === "organization" ? source.chain.id : null,
    partnerId: source.chain.kind === "partner" ? source.chain.id : null,
    ok: found.breakCount === 0 && problems.every((problem) => problem.reason === "count_shrank"),
    ...found,
    prunedPrefix: found.first ? found.first.chainSeq > 1 : prunes.length > 0,
    anchors: { checked: anchors.checked, signedCount: anchors.signedCount, latest: anchors.latest, problems },
    verifiedAt: new Date().toISOString(),
    durationMs: Math.round(performance.now() - started),
  };
}

type Walked = Pick<AuditVerify, "entriesChecked" | "first" | "head" | "breakCount" | "breaks">;

function chainWalk(source: ChainSource, prunes: PruneRecord[], note: (link: ChainLink) => void) {
  const hashOf = chainHasher(source.chain);
  const breaks: AuditBreak[] = [];
  let breakCount = 0;
  let entriesChecked = 0;
  let first: Walked["first"] = null;
  let last: ChainLink | undefined;

  const broken = (
    kind: AuditBreak["kind"],
    at: { chainSeq?: number; auditId?: string },
    expected?: unknown,
    actual?: unknown,
  ) => {
    breakCount += 1;
    if (breaks.length >= BREAKS_MAX) return;
    const text = (value: unknown) => (value === undefined || value === null ? null : String(value));
    const { chainSeq = null, auditId = null } = at;
    breaks.push({ kind, chainSeq, auditId, expected: text(expected), actual: text(actual) });
  };

  /** The hash that the first surviving entry was linked to: its own, or the one the prune record remembers. */
  const startOf = (link: ChainLink): string | null => {
    first = { chainSeq: link.chainSeq, prevHash: link.prevHash };
    if (link.chainSeq === 1 && link.prevHash === null) return null;
    const record = prunes.find((prune) => prune.prunedThroughSeq === link.chainSeq - 1);
    if (!record || (link.prevHash !== null && link.prevHash !== record.prunedThroughHash))
      broken("prefix_unexplained", link, record?.prunedThroughHash, link.prevHash);
    return link.prevHash ?? record?.prunedThroughHash ?? null;
  };

  const visitor: ChainVisitor = {
    link(link) {
      let prev = link.prevHash;
      if (last === undefined) prev = startOf(link);
      else {
        if (link.chainSeq !== last.chainSeq + 1) broken("sequence_gap", link, last.chainSeq + 1, link.chainSeq);
        if (link.prevHash !== last.chainHash) broken("link_mismatch", link, last.chainHash, link.prevHash);
      }
      const hash = hashOf(link.chainSeq, link.contentHash, prev);
      if (hash !== link.chainHash) broken("chain_hash_mismatch", link, hash, link.chainHash);
      entriesChecked += 1;
      note(link);
      last = link;
    },
    row(entry, canonical, intact) {
      const hash = sha256(canonical);
      if (hash !== entry.contentHash || !intact) broken("content_mismatch", entry, entry.contentHash, hash);
    },
    missingRow: (chainSeq, auditId) => broken("missing_row", { chainSeq, auditId }),
    unsealedRow: (auditId) => broken("unsealed_row", { auditId }),
  };
  const position = (found: AuditBreak) => found.chainSeq ?? Number.POSITIVE_INFINITY;
  const result = (): Walked => ({
    entriesChecked,
    first,
    head: last ? { chainSeq: last.chainSeq, chainHash: last.chainHash } : null,
    breakCount,
    breaks: breaks.sort((a, b) => (position(a) === position(b) ? 0 : position(a) - position(b))),
  });
  return { visitor, result };
}
