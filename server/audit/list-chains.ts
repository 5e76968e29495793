import type { Kysely } from "kysely";
import { type ChainKind, type ChainRef, SYSTEM_CHAIN } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

const kinds: readonly ChainKind[] = ["system", "partner", "organization"];

/**
 * Every chain there is a trace of: entries, but also anchors and rows, so that a chain whose entries were all removed
 * is still verified. Steps from key to key along an index: the cost follows the number of chains, not of entries.
 */
export async function* listChains(db: Kysely<AuditTables>): AsyncGenerator<ChainRef> {
  const seen = new Set<string>();
  const fresh = (chain: ChainRef) => !seen.has(chain.kind + chain.id) && seen.add(chain.kind + chain.id);
  for (const kind of kinds) {
    for (const table of ["auditChain", "auditAnchors"] as const)
      for await (const id of keys((after) => nextChainId(db, table, kind, after)))
        if (fresh({ kind, id })) yield { kind, id };
    const owner = kind === "organization" ? "orgId" : "partnerId";
    if (kind === "system") {
      if ((await hasSystemRows(db)) && fresh(SYSTEM_CHAIN)) yield SYSTEM_CHAIN;
    } else
      for await (const id of keys((after) => nextOwner(db, owner, after))) if (fresh({ kind, id })) yield { kind, id };
  }
}

async function* keys(next: (after: string | undefined) => Promise<string | undefined>): AsyncGenerator<string> {
  for (let id = await next(undefined); id !== undefined; id = await next(id)) yield id;
}

async function nextChainId(
  db: Kysely<AuditTables>,
  table: "auditChain" | "auditAnchors",
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
