import { isPrune, type PruneRecord } from "./anchor-format.ts";
import { type ChainLink, chainHasher } from "./chain.ts";
import type { ChainSource, ChainVisitor } from "./chain-source.ts";
import { type CheckedStatements, type StatementCheckOptions, statementChecks } from "./statement-checks.ts";
import { anchorChecks } from "./verify-anchors.ts";
import type { AuditBreak, AuditVerify } from "./verify-result.ts";

const BREAKS_MAX = 100;

/**
 * Walks one chain from its first surviving entry to its head and checks every hash anew, and holds anchors and prune
 * records against it, those of the database and those kept outside. Needs nothing of the code that writes. Load
 * `outside` before the source takes its snapshot, or a growing log looks cut.
 */
export async function verifyChain(source: ChainSource, options: StatementCheckOptions = {}): Promise<AuditVerify> {
  return (await verifyWith(source, options)).result;
}

/** As `verifyChain`, with what was found of each anchor and prune record. */
export async function verifyWith(
  source: ChainSource,
  options: StatementCheckOptions = {},
): Promise<{ result: AuditVerify; checked: CheckedStatements }> {
  const started = performance.now();
  const statements = statementChecks(source.chain, options);
  for await (const statement of source.statements()) statements.add(statement);
  const checked = statements.close();
  const anchors = anchorChecks(checked);
  const walk = chainWalk(source, checked, anchors.note);
  await source.walk(walk.visitor);
  const found = walk.result();
  const held = anchors.result(found);
  const result = {
    orgId: source.chain.kind === "organization" ? source.chain.id : null,
    partnerId: source.chain.kind === "partner" ? source.chain.id : null,
    ok: found.breakCount === 0 && held.problems.every((problem) => problem.reason === "count_shrank"),
    ...found,
    prunedPrefix: found.first ? found.first.chainSeq > 1 : checked.prunes.length > 0,
    anchors: held,
    verifiedAt: new Date().toISOString(),
    durationMs: Math.round(performance.now() - started),
  };
  return { result, checked };
}

type Walked = Pick<AuditVerify, "entriesChecked" | "first" | "head" | "breakCount" | "breaks">;

function chainWalk(source: ChainSource, statements: CheckedStatements, note: (link: ChainLink) => void) {
  const { prunes } = statements;
  const hashOf = chainHasher(source.chain);
  const found = breakList();
  const { broken } = found;
  let entriesChecked = 0;
  let first: Walked["first"] = null;
  let last: ChainLink | undefined;
  const faulty = faultyPrunes(statements);
  for (const { record, reason } of faulty)
    broken("prefix_unexplained", { chainSeq: record.prunedThroughSeq + 1 }, record.prunedThroughHash, reason);

  /** The hash that the first surviving entry was linked to: its own, or the one the prune record remembers. */
  const startOf = (link: ChainLink): string | null => {
    first = { chainSeq: link.chainSeq, prevHash: link.prevHash };
    if (link.chainSeq === 1 && link.prevHash === null) return null;
    const isBefore = (record: PruneRecord) => record.prunedThroughSeq === link.chainSeq - 1;
    const record = prunes.find(isBefore);
    const hash = record?.prunedThroughHash ?? null;
    if (!record || (link.prevHash !== null && link.prevHash !== hash)) {
      // A record that does not count was reported at this very position.
      if (record || !faulty.some((fault) => isBefore(fault.record)))
        broken("prefix_unexplained", link, hash, link.prevHash);
    }
    return link.prevHash ?? hash;
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
      // A link of anything but hashes has none, whatever it says.
      if (hash === "" || hash !== link.chainHash) broken("chain_hash_mismatch", link, hash, link.chainHash);
      entriesChecked += 1;
      note(link);
      last = link;
    },
    row(entry, hash, intact) {
      if (hash !== entry.contentHash || !intact) broken("content_mismatch", entry, entry.contentHash, hash);
    },
    missingRow: (chainSeq, auditId) => broken("missing_row", { chainSeq, auditId }),
    unsealedRow: (auditId) => broken("unsealed_row", { auditId }),
  };
  const result = (): Walked => ({
    entriesChecked,
    first,
    head: last ? { chainSeq: last.chainSeq, chainHash: last.chainHash } : null,
    ...found.result(),
  });
  return { visitor, result };
}

const faultyPrunes = ({ faults }: CheckedStatements) =>
  faults.flatMap(({ statement, reason }) => (isPrune(statement) ? [{ record: statement, reason }] : []));

/** Counts breaks and keeps the first hundred. */
function breakList() {
  const breaks: AuditBreak[] = [];
  let breakCount = 0;
  const position = (found: AuditBreak) => found.chainSeq ?? Number.POSITIVE_INFINITY;
  return {
    broken(
      kind: AuditBreak["kind"],
      at: { chainSeq?: number; auditId?: string },
      expected?: unknown,
      actual?: unknown,
    ): void {
      breakCount += 1;
      if (breaks.length >= BREAKS_MAX) return;
      const text = (value: unknown) => (value === undefined || value === null ? null : String(value));
      const { chainSeq = null, auditId = null } = at;
      breaks.push({ kind, chainSeq, auditId, expected: text(expected), actual: text(actual) });
    },
    result: () => ({
      breakCount,
      breaks: breaks.sort((a, b) => (position(a) === position(b) ? 0 : position(a) - position(b))),
    }),
  };
}
