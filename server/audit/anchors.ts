import type { Kysely } from "kysely";
import { type Anchor, anchorHash } from "./anchor-format.ts";
import type { AnchorSigner } from "./anchor-signing.ts";
import type { ChainRef } from "./chain.ts";
import { insertAnchor, type StatementKey } from "./insert-anchor.ts";
import { listChains } from "./list-chains.ts";
import { merkleTree } from "./merkle.ts";
import { type AuditTables, hexOf } from "./tables.ts";

/** An unscoped handle ("system"), on either database. */
export type AuditDb = Kysely<AuditTables>;

export interface AnchorOptions {
  now(): Date;
  /** None: anchors are unsigned. */
  signer?: AnchorSigner | undefined;
  /** Proves the server to the database; see `insertAnchor`. */
  key?: StatementKey | undefined;
  /** Takes each anchor out of the database: file, log. Called after it is stored. */
  keep(anchor: Anchor): Promise<void>;
}

/** Where a chain stood, as a verification that passed has found it; null = it was empty. */
export type Head = { chainSeq: number; chainHash: string } | null;

const LEAVES_AT_ONCE = 5_000;

/**
 * Anchors a chain at `head` (a verified one) or, without it, where it stands if it grew since its last anchor. Null
 * when there is nothing to say: it did not grow, a newer anchor exists, or another replica was faster.
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
  if (headChainSeq < since || (options.head === undefined && headChainSeq === since)) return null;
  const statement = {
    anchorSeq: (previous?.anchorSeq ?? 0) + 1,
    chainKind: chain.kind,
    chainId: chain.id,
    headChainSeq,
    headChainHash: head?.chainHash ?? null,
    entryCount: await entryCount(db, chain, headChainSeq),
    merkleRoot: await growthRoot(db, chain, since, headChainSeq),
    prevAnchorHash: previous ? anchorHash(previous) : null,
    anchoredAt: options.now().toISOString(),
  };
  const anchor = options.signer?.sign(statement) ?? { ...statement, signature: null, signingKeyId: null };
  if (!(await store(db, anchor, options.key))) return null;
  await options.keep(anchor);
  return anchor;
}

/** Anchors every chain that grew: hourly, and at shutdown once the outbox is empty. */
export async function anchorGrownChains(db: AuditDb, options: AnchorOptions): Promise<Anchor[]> {
  const taken: Anchor[] = [];
  for await (const chain of listChains(db)) {
    const anchor = await takeAnchor(db, chain, options);
    if (anchor) taken.push(anchor);
  }
  return taken;
}

export async function latestAnchor(db: AuditDb, chain: ChainRef): Promise<Anchor | undefined> {
  return (await listAnchors(db, chain, { limit: 1, offset: 0 }))[0];
}

/** Newest first. */
export async function listAnchors(
  db: AuditDb,
  chain: ChainRef,
  page: { limit: number; offset: number },
): Promise<Anchor[]> {
  const rows = await db
    .selectFrom("auditAnchors")
    .select([
      "anchorSeq",
      "chainKind",
      "chainId",
      "headChainSeq",
      "headChainHash",
      "entryCount",
      "merkleRoot",
      "prevAnchorHash",
      "anchoredAt",
      "signature",
      "signingKeyId",
    ])
    .where("chainKind", "=", chain.kind)
    .where("chainId", "=", chain.id)
    .orderBy("anchorSeq", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map((row) => ({
    ...row,
    anchorSeq: Number(row.anchorSeq),
    headChainSeq: Number(row.headChainSeq),
    entryCount: Number(row.entryCount),
    anchoredAt: new Date(row.anchoredAt).toISOString(),
  }));
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

/** False when another replica anchored the same position in the meantime. */
async function store(db: AuditDb, anchor: Anchor, key: StatementKey | undefined): Promise<boolean> {
  try {
    await insertAnchor(db, anchor, key);
    return true;
  } catch (error) {
    if (await latestAnchor(db, { kind: anchor.chainKind, id: anchor.chainId }).then(isAtLeast(anchor))) return false;
    throw error;
  }
}

const isAtLeast = (anchor: Anchor) => (latest: Anchor | undefined) =>
  latest !== undefined && latest.anchorSeq >= anchor.anchorSeq;
