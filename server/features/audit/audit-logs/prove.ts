import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { type ChainRef, contentFields } from "#server/audit/chain";
import { type InclusionProof, inclusionPath } from "#server/audit/inclusion";
import { type AuditDb, anchorCovering } from "#server/audit/statements";
import { hexOf } from "#server/audit/tables";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { chosenChain, readChains } from "./chain.ts";
import { entryWithId } from "./queries.ts";

type ProveCall = typeof auditLogs.proof extends Endpoint<infer T> ? Call<T> : never;

/** An entry with the proof that it stood in its chain (docs/audit.md, "Proofs"). 404 as for the entry. */
export async function proveEntry(call: ProveCall) {
  const seen = await entryWithId(call, call.params.id);
  if (!seen) throw problem("NOT_FOUND");
  const { orgId, partnerId } = seen;
  const chain = await chosenChain(call, orgId ? { orgId } : partnerId ? { partnerId } : { chain: "system" });
  return readChains(call, async (db) => {
    const { sealed, ...entry } = await sealedEntry(db, seen.id);
    const proof = sealed === null ? undefined : await proofOf(db, chain, sealed);
    if (proof === undefined) throw problem("INVALID_STATE", { details: { status: "not_anchored" } });
    return { entry, proof };
  });
}

async function sealedEntry(db: AuditDb, id: string) {
  const row = await db
    .selectFrom("auditLogs as l")
    .leftJoin("auditChain as c", "c.auditId", "l.id")
    .select(contentFields.map((field) => `l.${field}` as const))
    .select("c.chainSeq")
    .where("l.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  const { chainSeq, ...entry } = row;
  const timestamp = new Date(entry.timestamp).toISOString();
  return { ...entry, timestamp, sealed: chainSeq === null ? null : Number(chainSeq) };
}

/** Undefined where no anchor covers the entry yet, or retention removed what stood in the tree beside it. */
async function proofOf(db: AuditDb, chain: ChainRef, chainSeq: number): Promise<InclusionProof | undefined> {
  const covering = await anchorCovering(db, chain, chainSeq);
  if (covering === undefined) return undefined;
  const { anchor, since } = covering;
  const rows = await db
    .selectFrom("auditChain")
    .select("contentHash")
    .where("chainKind", "=", chain.kind)
    .where("chainId", "=", chain.id)
    .where("chainSeq", ">", since)
    .where("chainSeq", "<=", anchor.headChainSeq)
    .orderBy("chainSeq")
    .execute();
  const size = anchor.headChainSeq - since;
  if (rows.length !== size) return undefined;
  const leaves = rows.map(({ contentHash }) => hexOf(contentHash));
  const path = inclusionPath(leaves, chainSeq - since - 1).toString("base64");
  const { merkleRoot: _, ...proven } = anchor;
  return { format: "ap1", chainSeq, size, path, anchor: proven };
}
