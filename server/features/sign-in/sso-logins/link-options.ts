import type { UserPrincipal } from "#server/access/principal";
import type { ProviderOwner } from "#server/features/sign-in/sso-providers/find-active-provider";
import { type Call, user } from "#server/http/call";

/** Providers of the tenant a caller stands in: their organization's, or their partner's own. */
export const ownAxis = (who: UserPrincipal): ProviderOwner =>
  who.scope === "organization" ? { orgId: who.orgId as string } : { partnerId: who.partnerId as string };

/** What the caller can attach, and what is attached already. */
export async function listLinkOptions(call: Call) {
  const who = user(call);
  const owner = ownAxis(who);
  return call.readAsSystem("sign-in", async (db) => {
    const active = db.selectFrom("ssoProviders").select(["id", "name", "type"]).where("status", "=", "active");
    const own =
      "orgId" in owner ? active.where("orgId", "=", owner.orgId) : active.where("partnerId", "=", owner.partnerId);
    const providers = await own.orderBy("createdAt").orderBy("id").execute();
    const identities = await db
      .selectFrom("ssoIdentities")
      .select("providerId")
      .where("userId", "=", who.userId)
      .execute();
    const linked = new Set(identities.map(({ providerId }) => providerId));
    return { data: providers.map((provider) => ({ ...provider, linked: linked.has(provider.id) })) };
  });
}
