import { findOrg } from "#server/access/org-access";
import type { UserPrincipal } from "#server/access/principal";
import { chainsOfAnchorFile } from "#server/audit/anchor-copies";
import { type ChainRef, SYSTEM_CHAIN } from "#server/audit/chain";
import { auditHandle } from "#server/audit/handle";
import { isTraced, listChains } from "#server/audit/list-chains";
import type { AuditDb } from "#server/audit/statements";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { invalid, problem } from "#server/problem";

export interface ChainSelector {
  orgId?: string | undefined;
  partnerId?: string | undefined;
  chain?: "system" | undefined;
}

/**
 * The chain a caller names; organization scope has one only and need not name it. Everybody else must: a client that
 * lost its `orgId` would read "ok" of another chain. Partner chains are never seen by organization scope, the system
 * chain by system scope alone, and a chain is shown whole or not at all (docs/audit.md, "Choosing a chain").
 */
export async function chosenChain(call: Call, selector: ChainSelector): Promise<ChainRef> {
  const who = user(call);
  if (who.allowedSiteIds !== null) throw problem("SITE_ACCESS_DENIED");
  if (selector.orgId !== undefined) {
    await refuseForeignRecord(call, selector.orgId);
    return { kind: "organization", id: selector.orgId };
  }
  if (selector.partnerId !== undefined) return partnerChain(call, selector.partnerId);
  if (selector.chain === "system") {
    if (who.scope !== "system") throw problem("FORBIDDEN");
    return SYSTEM_CHAIN;
  }
  if (who.scope === "organization") return { kind: "organization", id: who.orgId as string };
  throw invalid({ path: "", message: "name one of orgId, partnerId and chain" });
}

/** Every chain the caller may verify, those of deleted organizations and of chains that vanished whole included. */
export async function chainsInReach(call: Call): Promise<ChainRef[]> {
  const who = user(call);
  if (who.allowedSiteIds !== null) throw problem("SITE_ACCESS_DENIED");
  if (who.scope === "organization") return [{ kind: "organization", id: who.orgId as string }];
  if (who.scope === "system") {
    const chains: ChainRef[] = [];
    const named = await chainsOfAnchorFile(call.services);
    await readChains(call, async (db) => {
      for await (const chain of listChains(db, named)) chains.push(chain);
    });
    return chains;
  }
  const orgs = await call.readAsSystem("read audit chain", (db) => orgsOfAnyTime(db, who).orderBy("id").execute());
  const own: ChainRef[] = who.orgAccess === "all" ? [{ kind: "partner", id: who.partnerId as string }] : [];
  return [...own, ...orgs.map(({ id }): ChainRef => ({ kind: "organization", id }))];
}

/**
 * Refuses (403 `ORG_ACCESS_DENIED`) an organization whose record the caller may not read. A record outlives its
 * organization: its partner and system scope go on reaching it.
 */
export async function refuseForeignRecord(call: Call, orgId: string): Promise<void> {
  if (await findOrg(call, orgId)) return;
  const who = user(call);
  if (who.scope === "partner" && (await wasOfPartner(call, orgId))) return;
  if (who.scope === "system" && (await isKnown(call, { kind: "organization", id: orgId }))) return;
  throw problem("ORG_ACCESS_DENIED");
}

/** Whether it was an organization of the partner, and one that the caller was granted. */
const wasOfPartner = (call: Call, orgId: string): Promise<boolean> =>
  call.readAsSystem("read audit chain", async (db) => {
    const org = await orgsOfAnyTime(db, user(call)).where("organizations.id", "=", orgId).executeTakeFirst();
    return org !== undefined;
  });

/** Organizations of the caller's partner, deleted ones too: all of them, or those that the caller was granted. */
function orgsOfAnyTime(db: Reader, { partnerId, orgAccess, membershipId }: UserPrincipal) {
  const query = db
    .selectFrom("organizations")
    .select("organizations.id")
    .where("organizations.partnerId", "=", orgAccess === "none" ? null : partnerId);
  if (orgAccess === "all") return query;
  const granted = db.selectFrom("partnerUserOrgs").select("orgId").where("membershipId", "=", membershipId);
  return query.where("organizations.id", "in", granted);
}

async function partnerChain(call: Call, id: string): Promise<ChainRef> {
  const who = user(call);
  const chain: ChainRef = { kind: "partner", id };
  if (who.scope === "system" && (await isKnown(call, chain))) return chain;
  if (who.scope !== "partner" || who.partnerId !== id) throw problem("PARTNER_ACCESS_DENIED");
  if (who.orgAccess !== "all") throw problem("FULL_PARTNER_ACCESS_REQUIRED");
  return chain;
}

/** Whether anything tells of this chain: the row of its owner, deleted or not, the record itself, or the anchor file. */
async function isKnown(call: Call, chain: ChainRef): Promise<boolean> {
  const table = chain.kind === "organization" ? "organizations" : "partners";
  const owner = await call.readAsSystem("read audit chain", (db) =>
    db.selectFrom(table).select("id").where("id", "=", chain.id).executeTakeFirst(),
  );
  if (owner || (await readChains(call, (db) => isTraced(db, chain)))) return true;
  const named = await chainsOfAnchorFile(call.services);
  return named.some(({ kind, id }) => kind === chain.kind && id === chain.id);
}

/** Chain, anchors and prune records, unscoped: the callers above have decided whose they may be. */
export const readChains = <R>(call: Call, work: (db: AuditDb) => Promise<R>): Promise<R> =>
  call.readAsSystem("read audit chain", (db) => work(auditHandle(db as Parameters<typeof auditHandle>[0])));
