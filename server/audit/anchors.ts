import { type Anchor, type ChainStatement, type PruneRecord, statementHash } from "./anchor-format.ts";
import { type AnchorSigner, signedBy } from "./anchor-signing.ts";
import type { ChainRef } from "./chain.ts";
import { insertAnchor, type StatementKey } from "./insert-anchor.ts";
import { listChains } from "./list-chains.ts";
import { merkleTree } from "./merkle.ts";
import { type AuditDb, latestAnchor, latestPrune, latestStatement } from "./statements.ts";
import { hexOf } from "./tables.ts";

export interface AnchorOptions {
  now(): Date;
  /** None: anchors are unsigned. */
  signer?: AnchorSigner | undefined;
  /** Whether a prune record of the database counts; without it every one does. */
  trusts?(record: PruneRecord): boolean;
  /** Proves the server to the database; see `insertAnchor`. */
  key?: StatementKey | undefined;
  /** Takes each anchor out of the database: file, log. Called after it is stored; must not throw. */
  keep(anchor: Anchor): Promise<void>;
}

/** Where a chain stood, as a verification that passed has found it; null = it was empty. */
export type Head = { chainSeq: number; chainHash: string } | null;

/** No anchor was written, because the chain contradicts the one before. */
export class AnchorRefused extends Error {
  override name = "AnchorRefused";
}

const LEAVES_AT_ONCE = 5_000;

/**
 * Anchors a chain at `head` (a verified one) or, without it, where it stands if it grew since its last anchor. Null
 * when there is nothing to say: it did not grow, its head is anchored, or another replica was faster. Throws
 * `AnchorRefused` when the entry at the last anchor's head is another one now or gone: a new anchor over it would
 * vouch for what was done to the chain.
 */
export async function takeAnchor(
  db: AuditDb,
  chain: ChainRef,
  options: AnchorOptions & { head?: Head },
): Promise<Anchor | null> {
  const previous = await latestAnchor(db, chain);
  const head = options.head === undefined ? await liveHead(db, chain) : options.head;
  const headChainSeq = head?.chainSeq ?? 0;
  const since = previous?.headChainSeq ?? 0;
  if (options.head === undefined && headChainSeq === since) return null;
  if (previous && (options.head === undefined || headChainSeq >= since))
    await refuseContradicted(db, chain, previous, options);
  if (headChainSeq < since || (headChainSeq === since && isAnchored(previous, options.signer))) return null;
  const before = await latestStatement(db, chain);
  // An emptied chain: its prune record says where it stands.
  if (head === null && before !== undefined) return null;
  if (!options.signer && before && before.signature !== null)
    throw new Error("the statements of this chain are signed, and there is no key to sign another with");
  const statement = {
    anchorSeq: (before?.anchorSeq ?? 0) + 1,
    chainKind: chain.kind,
    chainId: chain.id,
    headChainSeq,
    headChainHash: head?.chainHash ?? null,
    entryCount: await entryCount(db, chain, headChainSeq),
    merkleRoot: await growthRoot(db, chain, since, headChainSeq),
    prevAnchorHash: before ? statementHash(before) : null,
    anchoredAt: options.now().toISOString(),
  };
  const anchor = signedBy(options.signer, statement);
  if (!(await store(db, anchor, options.key))) return null;
  await options.keep(anchor);
  return anchor;
}

/**
 * Anchors every chain that grew: hourly, and at shutdown once the outbox is empty. A chain that cannot be anchored is
 * told of (`failed`), and the others are anchored.
 */
export async function anchorGrownChains(
  db: AuditDb,
  options: AnchorOptions & { failed?(chain: ChainRef, error: unknown): Promise<void> },
): Promise<Anchor[]> {
  const taken: Anchor[] = [];
  for await (const chain of listChains(db)) {
    try {
      const anchor = await takeAnchor(db, chain, options);
      if (anchor) taken.push(anchor);
    } catch (error) {
      if (!options.failed) throw error;
      await options.failed(chain, error);
    }
  }
  return taken;
}

/** An unsigned anchor is followed by a signed one of the same head as soon as there is a key. */
const isAnchored = (previous: Anchor | undefined, signer: AnchorSigner | undefined): boolean =>
  previous !== undefined && (previous.signature !== null || !signer);

async function refuseContradicted(db: AuditDb, chain: ChainRef, previous: Anchor, options: AnchorOptions) {
  const { headChainSeq, headChainHash } = previous;
  if (headChainSeq === 0) return;
  const row = await entriesOf(db, chain)
    .select("chainHash")
    .where("chainSeq", "=", headChainSeq)
    .limit(1)
    .executeTakeFirst();
  if (row ? hexOf(row.chainHash) === headChainHash : await isPruned(db, chain, previous, options)) return;
  throw new AnchorRefused(
    `the entry at position ${headChainSeq}, which anchor ${previous.anchorSeq} covers, is ${row ? "another" : "gone"}`,
  );
}

async function isPruned(db: AuditDb, chain: ChainRef, { headChainSeq, headChainHash }: Anchor, options: AnchorOptions) {
  const record = await latestPrune(db, chain);
  if (!record || (options.trusts && !options.trusts(record))) return false;
  if (record.prunedThroughSeq === headChainSeq) return record.prunedThroughHash === headChainHash;
  return record.prunedThroughSeq > headChainSeq;
}

const entriesOf = (db: AuditDb, chain: ChainRef) =>
  db.selectFrom("auditChain").where("chainKind", "=", chain.kind).where("chainId", "=", chain.id);

async function liveHead(db: AuditDb, chain: ChainRef): Promise<Head> {
  const row = await entriesOf(db, chain)
    .select(["chainSeq", "chainHash"])
    .orderBy("chainSeq", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ? { chainSeq: Number(row.chainSeq), chainHash: hexOf(row.chainHash) } : null;
}

async function entryCount(db: AuditDb, chain: ChainRef, through: number): Promise<number> {
  const row = await entriesOf(db, chain)
    .select((eb) => eb.fn.countAll<number | string>().as("entries"))
    .where("chainSeq", "<=", through)
    .executeTakeFirstOrThrow();
  return Number(row.entries);
}

/** Root over the contents that came after `since`, up to and including `through`. */
async function growthRoot(db: AuditDb, chain: ChainRef, since: number, through: number): Promise<string | null> {
  const tree = merkleTree();
  for (let after = since; after < through; ) {
    const rows = await entriesOf(db, chain)
      .select(["chainSeq", "contentHash"])
      .where("chainSeq", ">", after)
      .where("chainSeq", "<=", through)
      .orderBy("chainSeq")
      .limit(LEAVES_AT_ONCE)
      .execute();
    for (const row of rows) tree.add(hexOf(row.contentHash));
    const last = rows.at(-1);
    if (!last) break;
    after = Number(last.chainSeq);
  }
  return tree.root();
}

/** False when another replica, or the retention worker, took the place in the meantime. */
async function store(db: AuditDb, anchor: Anchor, key: StatementKey | undefined): Promise<boolean> {
  try {
    await insertAnchor(db, anchor, key);
    return true;
  } catch (error) {
    if (await latestStatement(db, { kind: anchor.chainKind, id: anchor.chainId }).then(isAtLeast(anchor))) return false;
    throw error;
  }
}

const isAtLeast = (anchor: Anchor) => (latest: ChainStatement | undefined) =>
  latest !== undefined && latest.anchorSeq >= anchor.anchorSeq;
