import { getNamedOrg } from "#server/access/org-access";
import { type ChainRef, SYSTEM_CHAIN } from "#server/audit/chain";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

export interface ChainSelector {
  orgId?: string | undefined;
  partnerId?: string | undefined;
  chain?: "system" | undefined;
}

/**
 * The chain that the caller names, or its own (docs/audit.md, "Choosing a chain"). Callers confined to sites see part
 * of an organization and so no whole chain.
 */
export async function chosenChain(call: Call, selector: ChainSelector): Promise<ChainRef> {
  const who = user(call);
  if (who.allowedSiteIds !== null) throw problem("SITE_ACCESS_DENIED");
  if (selector.orgId !== undefined) return { kind: "organization", id: (await getNamedOrg(call, selector.orgId)).id };
  if (selector.partnerId !== undefined) return partnerChain(call, selector.partnerId);
  if (selector.chain === "system") {
    if (who.scope !== "system") throw problem("FORBIDDEN");
    return SYSTEM_CHAIN;
  }
  if (who.scope === "organization") return { kind: "organization", id: who.orgId as string };
  return who.scope === "partner" ? partnerChain(call, who.partnerId as string) : SYSTEM_CHAIN;
}

async function partnerChain(call: Call, id: string): Promise<ChainRef> {
  const who = user(call);
  if (who.scope === "organization") throw problem("PARTNER_ACCESS_DENIED");
  const partner = await call.db.selectFrom("partners").select("id").where("id", "=", id).executeTakeFirst();
  if (!partner) throw problem("PARTNER_ACCESS_DENIED");
  return { kind: "partner", id: partner.id };
}
