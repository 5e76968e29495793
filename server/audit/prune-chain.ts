import { type ChainStatement, type PruneRecord, type PruneStatement, statementHash } from "./anchor-format.ts";
import { type AnchorSigner, signedBy } from "./anchor-signing.ts";
import {
  type AuditContent,
  type ChainLink,
  type ChainRef,
  canonicalContent,
  chainHasher,
  chainOf,
  sha256,
} from "./chain.ts";

const DAY = 24 * 60 * 60 * 1_000;

/** Removes the entries of a chain that are older than `before` (ISO-8601). */
export interface PruneTask {
  chain: ChainRef;
  before: string;
  /** By the server's clock. */
  now: string;
  /** Entries that do not hold are removed too, and counted in the record. */
  evenBroken?: boolean;
}

/** An entry of the old prefix that does not hold: it is evidence, and stays. */
export interface PruneStop {
  chainSeq: number;
  reason: "missing_row" | "content_mismatch" | "chain_hash_mismatch" | "link_mismatch" | "sequence_gap";
}

export interface Pruned {
  record: PruneRecord | null;
  stop: PruneStop | null;
}

export type OldEntry = ChainLink & { row: (AuditContent & { checksum: string }) | null };

/** One chain inside the transaction that prunes it; methods answer from that transaction. */
export interface PrunableChain {
  /** So many entries at most go in one transaction and prune record. */
  readonly atOnce: number;
  /** Before a record is made: what it follows stays the latest until the transaction ends. */
  latest(): Promise<ChainStatement | undefined>;
  newestPrune(): Promise<PruneRecord | undefined>;
  /** The lowest head of the anchors taken after a moment. */
  lowestHeadAfter(moment: string): Promise<number | undefined>;
  /** By rising chainSeq, from the first there is. */
  entries(): AsyncIterable<OldEntry> | Iterable<OldEntry>;
  /** The one way by which a prune record enters the database, and entries leave it. */
  prune(record: PruneRecord): Promise<void>;
}

/**
 * Removes the longest prefix whose entries are all older, with its record, or nothing. Every content hash and link of
 * it is recomputed first: what was altered is not made to vanish by growing old. A prefix never reaches beyond an
 * anchor taken a day or more after the cutoff, because what follows that head came later still.
 */
export async function pruneChain(chain: PrunableChain, task: PruneTask, signer?: AnchorSigner): Promise<Pruned> {
  if (task.chain.kind !== "organization" || Date.parse(task.before) > Date.parse(task.now) - DAY)
    return { record: null, stop: null };
  const dayAfter = new Date(Date.parse(task.before) + DAY).toISOString();
  let prefix: ReturnType<typeof prefixWalk> | undefined;
  for await (const entry of chain.entries()) {
    if (!isOld(entry, task)) break;
    prefix ??= prefixWalk(task, {
      previous: await chain.newestPrune(),
      lowestHead: (await chain.lowestHeadAfter(dayAfter)) ?? Number.POSITIVE_INFINITY,
      atOnce: chain.atOnce,
    });
    if (!prefix.take(entry)) break;
  }
  if (!prefix) return { record: null, stop: null };
  const { last, count, broken, stop } = prefix.result();
  if (!last) return { record: null, stop };
  const before = await chain.latest();
  const statement: PruneStatement = {
    type: "prune",
    anchorSeq: (before?.anchorSeq ?? 0) + 1,
    chainKind: task.chain.kind,
    chainId: task.chain.id,
    prevAnchorHash: before ? statementHash(before) : null,
    prunedThroughSeq: last.chainSeq,
    prunedThroughHash: last.chainHash,
    prunedCount: count,
    cutoff: task.before,
    prunedAt: task.now,
    ...(broken > 0 ? { breakCount: broken } : {}),
  };
  const record = signedBy(signer, statement);
  await chain.prune(record);
  return { record, stop };
}

/** A record from before prune records were signed, as `audit_unsigned_prunes` has it. */
export type UnsignedPrune = Pick<
  PruneStatement,
  "prunedThroughSeq" | "prunedThroughHash" | "prunedCount" | "cutoff" | "prunedAt"
>;

/** Puts the newest record from before they were signed into the sequence, once; null where the chain has one already. */
export async function restatePrune(
  chain: PrunableChain,
  { kind, id }: ChainRef,
  unsigned: UnsignedPrune,
  signer?: AnchorSigner,
): Promise<PruneRecord | null> {
  const before = await chain.latest();
  if (await chain.newestPrune()) return null;
  const record = signedBy<PruneStatement>(signer, {
    type: "prune",
    anchorSeq: (before?.anchorSeq ?? 0) + 1,
    chainKind: kind,
    chainId: id,
    prevAnchorHash: before ? statementHash(before) : null,
    ...unsigned,
    restates: true,
  });
  await chain.prune(record);
  return record;
}

/** A row that is gone has no age: it is looked at. */
const isOld = ({ row }: OldEntry, { before }: PruneTask): boolean =>
  row === null || Date.parse(row.timestamp) < Date.parse(before);

interface Bounds {
  previous: PruneRecord | undefined;
  lowestHead: number;
  atOnce: number;
}

function prefixWalk(task: PruneTask, { previous, lowestHead, atOnce }: Bounds) {
  const hashOf = chainHasher(task.chain);
  let last: ChainLink | undefined;
  let count = 0;
  let broken = 0;
  let stop: PruneStop | null = null;

  const faultOf = ({ row, ...link }: OldEntry): PruneStop["reason"] | undefined => {
    const prev =
      last?.chainHash ?? (previous?.prunedThroughSeq === link.chainSeq - 1 ? previous.prunedThroughHash : null);
    if (last && link.chainSeq !== last.chainSeq + 1) return "sequence_gap";
    // An emptied first link is accepted, as the verifier accepts it.
    if (link.prevHash !== prev && (last || link.prevHash !== null)) return "link_mismatch";
    if (hashOf(link.chainSeq, link.contentHash, prev) !== link.chainHash) return "chain_hash_mismatch";
    if (row === null) return "missing_row";
    const owner = chainOf(row);
    const isOwn = owner.kind === task.chain.kind && owner.id === task.chain.id;
    const holds = isOwn && row.checksum === link.contentHash && sha256(canonicalContent(row)) === link.contentHash;
    return holds ? undefined : "content_mismatch";
  };
  return {
    /** False where the prefix ends. */
    take(entry: OldEntry): boolean {
      if (count >= atOnce || entry.chainSeq > lowestHead) return false;
      const reason = faultOf(entry);
      if (reason) {
        stop ??= { chainSeq: entry.chainSeq, reason };
        if (!task.evenBroken) return false;
        broken += 1;
      }
      last = entry;
      count += 1;
      return true;
    },
    result: () => ({ last, count, broken, stop: task.evenBroken ? null : stop }),
  };
}
