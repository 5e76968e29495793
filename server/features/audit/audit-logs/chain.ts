import { type ChainRef, SYSTEM_CHAIN } from "#server/audit/chain";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { namedOrgOfAnyTime } from "./org-of-any-time.ts";

export interface ChainSelector {
  orgId?: string | undefined;
  partnerId?: string | undefined;
  chain?: "system" | undefined;
}

/**
 * The chain that the caller names, or its own (docs/audit.md, "Choosing a chain"). Callers confined to sites see part
 * of an organization and callers confined to organizations part of a partner, and so no whole chain.
 */
export async function chosenChain(call: Call, selector: ChainSelector): Promise<ChainRef> {
  const who = user(call);
  if (who.allowedSiteIds !== null) throw problem("SITE_ACCESS_DENIED");
  if (selector.orgId !== undefined) return { kind: "organization", id: await namedOrgOfAnyTime(call, selector.orgId) };
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
  if (who.scope === "partner" && who.orgAccess !== "all") throw problem("FULL_PARTNER_ACCESS_REQUIRED");
  return { kind: "partner", id: partner.id };
}
