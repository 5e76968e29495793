import type { Kysely } from "kysely";
import type { Anchor, ChainStatement, PruneRecord } from "./anchor-format.ts";
import type { ChainRef } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

/** An unscoped handle ("system"), on either database. */
export type AuditDb = Kysely<AuditTables>;

const PAGE = 1_000;

/** The newest anchor or prune record of a chain. */
export async function latestStatement(db: AuditDb, chain: ChainRef): Promise<ChainStatement | undefined> {
  return (await listStatements(db, chain, { limit: 1, offset: 0 }))[0];
}

export async function latestAnchor(db: AuditDb, chain: ChainRef): Promise<Anchor | undefined> {
  const row = await anchorsOf(db, chain).orderBy("anchorSeq", "desc").limit(1).executeTakeFirst();
  return row && anchorOf(row);
}

/** The first anchor whose head is at this position or beyond, and the head of the one before: its tree is of what lies between. */
export async function anchorCovering(
  db: AuditDb,
  chain: ChainRef,
  chainSeq: number,
): Promise<{ anchor: Anchor; since: number } | undefined> {
  const row = await anchorsOf(db, chain)
    .where("headChainSeq", ">=", chainSeq)
    .orderBy("anchorSeq")
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const before = await anchorsOf(db, chain)
    .where("anchorSeq", "<", row.anchorSeq)
    .orderBy("anchorSeq", "desc")
    .limit(1)
    .executeTakeFirst();
  return { anchor: anchorOf(row), since: Number(before?.headChainSeq ?? 0) };
}

/** The record that covers most. */
export async function latestPrune(db: AuditDb, chain: ChainRef): Promise<PruneRecord | undefined> {
  const row = await prunesOf(db, chain).orderBy("anchorSeq", "desc").limit(1).executeTakeFirst();
  return row && pruneOf(row);
}

/** Anchors and prune records, newest first. */
export async function listStatements(
  db: AuditDb,
  chain: ChainRef,
  page: { limit: number; offset: number },
): Promise<ChainStatement[]> {
  const places = await placesOf(db, chain)
    .select("anchorSeq")
    .orderBy("anchorSeq", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  if (places.length === 0) return [];
  const [newest, oldest] = [Number(places[0]!.anchorSeq), Number(places.at(-1)!.anchorSeq)];
  return (await between(db, chain, oldest, newest)).reverse();
}

export async function countStatements(db: AuditDb, chain: ChainRef): Promise<number> {
  const counted = await placesOf(db, chain)
    .select((eb) => eb.fn.countAll<number | string>().as("total"))
    .executeTakeFirstOrThrow();
  return Number(counted.total);
}

/** Everything after `anchorSeq`, oldest first. */
export async function* statementsAfter(
  db: AuditDb,
  chain: ChainRef,
  anchorSeq: number,
): AsyncGenerator<ChainStatement> {
  for (let after = anchorSeq; ; ) {
    const places = await placesOf(db, chain)
      .select("anchorSeq")
      .where("anchorSeq", ">", after)
      .orderBy("anchorSeq")
      .limit(PAGE)
      .execute();
    const last = places.at(-1);
    if (!last) return;
    yield* await between(db, chain, Number(places[0]!.anchorSeq), Number(last.anchorSeq));
    after = Number(last.anchorSeq);
  }
}

const placesOf = (db: AuditDb, chain: ChainRef) =>
  db.selectFrom(
    db
      .selectFrom("auditAnchors")
      .select("anchorSeq")
      .where("chainKind", "=", chain.kind)
      .where("chainId", "=", chain.id)
      .unionAll(
        db
          .selectFrom("auditPrunes")
          .select("anchorSeq")
          .where("chainKind", "=", chain.kind)
          .where("chainId", "=", chain.id),
      )
      .as("places"),
  );

async function between(db: AuditDb, chain: ChainRef, first: number, last: number): Promise<ChainStatement[]> {
  const anchors = await anchorsOf(db, chain).where("anchorSeq", ">=", first).where("anchorSeq", "<=", last).execute();
  const prunes = await prunesOf(db, chain).where("anchorSeq", ">=", first).where("anchorSeq", "<=", last).execute();
  const statements: ChainStatement[] = [...anchors.map(anchorOf), ...prunes.map(pruneOf)];
  return statements.sort((a, b) => a.anchorSeq - b.anchorSeq);
}

const anchorsOf = (db: AuditDb, chain: ChainRef) =>
  db
    .selectFrom("auditAnchors")
    .select(["anchorSeq", "chainKind", "chainId", "headChainSeq", "headChainHash", "entryCount", "merkleRoot"])
    .select(["prevAnchorHash", "anchoredAt", "signature", "signingKeyId"])
    .where("chainKind", "=", chain.kind)
    .where("chainId", "=", chain.id);

const prunesOf = (db: AuditDb, chain: ChainRef) =>
  db
    .selectFrom("auditPrunes")
    .select(["anchorSeq", "chainKind", "chainId", "prunedThroughSeq", "prunedThroughHash", "prunedCount", "cutoff"])
    .select(["prunedAt", "restates", "breakCount", "prevAnchorHash", "signature", "signingKeyId"])
    .where("chainKind", "=", chain.kind)
    .where("chainId", "=", chain.id);

type Row<Q extends (...args: never[]) => { executeTakeFirstOrThrow(): Promise<unknown> }> = Awaited<
  ReturnType<ReturnType<Q>["executeTakeFirstOrThrow"]>
>;

const iso = (moment: string) => new Date(moment).toISOString();

const anchorOf = (row: Row<typeof anchorsOf>): Anchor => ({
  ...row,
  anchorSeq: Number(row.anchorSeq),
  headChainSeq: Number(row.headChainSeq),
  entryCount: Number(row.entryCount),
  anchoredAt: iso(row.anchoredAt),
});

const pruneOf = ({ restates, breakCount, ...row }: Row<typeof prunesOf>): PruneRecord => ({
  type: "prune",
  ...row,
  anchorSeq: Number(row.anchorSeq),
  prunedThroughSeq: Number(row.prunedThroughSeq),
  prunedCount: Number(row.prunedCount),
  cutoff: iso(row.cutoff),
  prunedAt: iso(row.prunedAt),
  ...(restates ? { restates: true as const } : {}),
  ...(breakCount === null ? {} : { breakCount: Number(breakCount) }),
});
