import type { Kysely } from "kysely";
import { type ChainKind, type ChainRef, SYSTEM_CHAIN } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

const kinds: readonly ChainKind[] = ["system", "partner", "organization"];

const traces = ["auditChain", "auditAnchors", "auditPrunes", "auditUnsignedPrunes"] as const;

/**
 * Every chain there is a trace of: entries, but also anchors, prune records and rows, so that a chain whose entries
 * were all removed is still verified; and those of `also`, which the anchor file names. Steps from key to key along an
 * index: the cost follows the number of chains, not of entries.
 */
export async function* listChains(db: Kysely<AuditTables>, also: readonly ChainRef[] = []): AsyncGenerator<ChainRef> {
  const seen = new Set<string>();
  const fresh = (chain: ChainRef) => !seen.has(chain.kind + chain.id) && seen.add(chain.kind + chain.id);
  for (const kind of kinds) {
    for (const table of traces)
      for await (const id of keys((after) => nextChainId(db, table, kind, after)))
        if (fresh({ kind, id })) yield { kind, id };
    const owner = kind === "organization" ? "orgId" : "partnerId";
    if (kind === "system") {
      if ((await hasSystemRows(db)) && fresh(SYSTEM_CHAIN)) yield SYSTEM_CHAIN;
    } else
      for await (const id of keys((after) => nextOwner(db, owner, after))) if (fresh({ kind, id })) yield { kind, id };
  }
  for (const chain of also) if (fresh(chain)) yield chain;
}

/** Whether the database has any trace of a chain. */
export async function isTraced(db: Kysely<AuditTables>, { kind, id }: ChainRef): Promise<boolean> {
  for (const table of traces) {
    const query = db.selectFrom(table).select("chainId").where("chainKind", "=", kind).where("chainId", "=", id);
    if (await query.limit(1).executeTakeFirst()) return true;
  }
  if (kind === "system") return hasSystemRows(db);
  const owner = kind === "organization" ? "orgId" : "partnerId";
  return (
    (await db.selectFrom("auditLogs").select("id").where(owner, "=", id).limit(1).executeTakeFirst()) !== undefined
  );
}

async function* keys(next: (after: string | undefined) => Promise<string | undefined>): AsyncGenerator<string> {
  for (let id = await next(undefined); id !== undefined; id = await next(id)) yield id;
}

async function nextChainId(
  db: Kysely<AuditTables>,
  table: (typeof traces)[number],
  kind: ChainKind,
  after: string | undefined,
): Promise<string | undefined> {
  let query = db.selectFrom(table).select("chainId").where("chainKind", "=", kind);
  if (after !== undefined) query = query.where("chainId", ">", after);
  return (await query.orderBy("chainId").limit(1).executeTakeFirst())?.chainId;
}

async function nextOwner(
  db: Kysely<AuditTables>,
  owner: "orgId" | "partnerId",
  after: string | undefined,
): Promise<string | undefined> {
  let query = db.selectFrom("auditLogs").select(`${owner} as owner`).where(owner, "is not", null);
  if (after !== undefined) query = query.where(owner, ">", after);
  return (await query.orderBy(owner).limit(1).executeTakeFirst())?.owner ?? undefined;
}

async function hasSystemRows(db: Kysely<AuditTables>): Promise<boolean> {
  const query = db.selectFrom("auditLogs").select("id").where("orgId", "is", null).where("partnerId", "is", null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
