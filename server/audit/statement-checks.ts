import {
  type Anchor,
  type ChainStatement,
  isPrune,
  type PruneRecord,
  statedAt,
  statementHash,
} from "./anchor-format.ts";
import type { ChainRef } from "./chain.ts";
import { judgePrunes, type PruneFault } from "./prune-checks.ts";
import { type SignatureFault, signatureChecks } from "./signature-checks.ts";
import { selectStatements } from "./statement-selection.ts";

export interface StatementCheckOptions {
  /** SPKI base64 of every key that is trusted; none = signatures are counted, not checked. */
  publicKeys?: readonly string[];
  /** Statements of this chain kept outside the database, as `readStatements` gives them. */
  outside?: readonly ChainStatement[] | undefined;
  /** What is added begins somewhere in the sequence, not at 1: the newest page of a list. */
  partial?: boolean;
}

/** What is wrong with a statement by itself, or beside others; the chain was not looked at. */
export interface StatementFault {
  statement: ChainStatement;
  reason: "signature_invalid" | "hash_diverged" | PruneFault;
  signature?: SignatureFault;
}

export interface CheckedStatements {
  /** What to hold against the chain, newest first. */
  anchors: Anchor[];
  /** The newest of the database or the bundle. */
  latest: Anchor | null;
  /** The records that count. */
  prunes: PruneRecord[];
  faults: StatementFault[];
}

interface Seen {
  statement: ChainStatement;
  hash: string;
  /** The latest moment stated up to it: a statement cannot claim to be older than what it follows. */
  time: number;
}

/**
 * Takes the statements of a database or a bundle by rising anchorSeq, and judges them together with those kept
 * outside. A statement that does not follow its predecessor by number and hash, and two different ones for one place,
 * are `hash_diverged`.
 */
export function statementChecks(chain: ChainRef, options: StatementCheckOptions = {}) {
  const signatures = signatureChecks(options.publicKeys ?? []);
  const outside = (options.outside ?? [])
    .map((statement): Seen => ({ statement, hash: statementHash(statement), time: Date.parse(statedAt(statement)) }))
    .sort((a, b) => a.statement.anchorSeq - b.statement.anchorSeq);
  const bySeq = new Map<number, Seen[]>();
  for (const one of outside) bySeq.set(one.statement.anchorSeq, [...(bySeq.get(one.statement.anchorSeq) ?? []), one]);
  const selection = selectStatements();
  const seen = new WeakMap<ChainStatement, Seen>();
  const heads: { at: number; head: number }[] = [];
  const diverged: Seen[] = [];
  let latest: Anchor | null = null;
  let last: Seen | undefined;

  const note = ({ statement }: Seen) => {
    signatures.note(statement);
    const at = Date.parse(statedAt(statement));
    if (!isPrune(statement) && !Number.isNaN(at)) heads.push({ at, head: statement.headChainSeq });
  };
  const follows = ({ anchorSeq, prevAnchorHash }: ChainStatement): boolean => {
    if (last) return anchorSeq === last.statement.anchorSeq + 1 && prevAnchorHash === last.hash;
    return options.partial === true || (anchorSeq === 1 && prevAnchorHash === null);
  };
  for (const one of outside) note(one);
  for (const copies of bySeq.values()) if (new Set(copies.map(({ hash }) => hash)).size > 1) diverged.push(...copies);

  return {
    add(statement: ChainStatement): void {
      const time = Math.max(last?.time ?? 0, Date.parse(statedAt(statement)) || 0);
      const one: Seen = { statement, hash: statementHash(statement), time };
      seen.set(statement, one);
      selection.add(statement);
      if (!isOf(chain, statement)) {
        diverged.push(one);
        return;
      }
      const others = bySeq.get(statement.anchorSeq)?.filter(({ hash }) => hash !== one.hash) ?? [];
      const isNext = follows(statement);
      if (!isNext || others.length > 0) diverged.push(one, ...others);
      // For a record without signature nothing vouches but what follows, by carrying its hash.
      if (!isNext && last && isPrune(last.statement) && last.statement.signature === null) diverged.push(last);
      if (!isPrune(statement)) latest = statement;
      note(one);
      last = one;
    },
    close(): CheckedStatements {
      const kept = distinct([...selection.kept().map((statement) => seen.get(statement)!), ...outside, ...diverged]);
      const prunes = kept.map(({ statement }) => statement).filter(isPrune);
      const judge = judgePrunes(prunes, { heads, file: fileContext(outside) });
      const divergedHashes = new Set(diverged.map(({ hash }) => hash));
      const faults = kept.flatMap((one): StatementFault[] => {
        const signature = signatures.fault(one.statement, one.time);
        const isDiverged = divergedHashes.has(one.hash);
        if (isPrune(one.statement)) return pruneFault(one.statement, { chain, isDiverged, signature, judge });
        const reasons: StatementFault[] = [];
        const { statement } = one;
        if (signature) reasons.push({ statement, reason: "signature_invalid", signature });
        if (isDiverged) reasons.push({ statement, reason: "hash_diverged" });
        return reasons;
      });
      const faulty = new Set(faults.map(({ statement }) => statement));
      const anchors = kept
        .map(({ statement }) => statement)
        .filter((one): one is Anchor => !isPrune(one) && isOf(chain, one));
      return { anchors: anchors.reverse(), latest, prunes: prunes.filter((one) => !faulty.has(one)), faults };
    },
  };
}

interface Judged {
  chain: ChainRef;
  isDiverged: boolean;
  signature: SignatureFault | undefined;
  judge(record: PruneRecord): PruneFault | undefined;
}

function pruneFault(statement: PruneRecord, { chain, isDiverged, signature, judge }: Judged): StatementFault[] {
  if (!isOf(chain, statement)) return [{ statement, reason: "prune_of_another_chain" }];
  if (signature === "unsigned") return [{ statement, reason: "prune_unsigned", signature }];
  if (signature) return [{ statement, reason: "prune_signature_invalid", signature }];
  if (isDiverged) return [{ statement, reason: "prune_diverged" }];
  const reason = judge(statement);
  return reason ? [{ statement, reason }] : [];
}

const isOf = (chain: ChainRef, statement: ChainStatement): boolean =>
  statement.chainKind === chain.kind && statement.chainId === chain.id;

/** By rising anchorSeq. Statement and signature: a copy whose signature alone was altered is looked at too. */
const distinct = (all: Seen[]): Seen[] => {
  const byText = new Map<string, Seen>();
  for (const one of all) {
    const { signature, signingKeyId } = one.statement;
    const text = `${one.hash} ${signature} ${signingKeyId}`;
    // The database's copy knows what it follows.
    if (!byText.has(text)) byText.set(text, one);
  }
  return [...byText.values()].sort((a, b) => a.statement.anchorSeq - b.statement.anchorSeq);
};

function fileContext(outside: readonly Seen[]) {
  if (outside.length === 0) return undefined;
  const hashes = new Set(outside.map(({ hash }) => hash));
  return {
    first: outside[0]!.statement.anchorSeq,
    last: outside.at(-1)!.statement.anchorSeq,
    holds: (record: PruneRecord) => hashes.has(statementHash(record)),
  };
}
