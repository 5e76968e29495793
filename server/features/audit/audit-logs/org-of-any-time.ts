import { user } from "#server/access/principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/**
 * The organization whose entries the caller names, also one that was deleted: what was recorded of it stays readable to
 * its partner and to system scope. ORG_ACCESS_DENIED for any other, whether it exists or not.
 */
export async function namedOrgOfAnyTime(call: Call, orgId: string): Promise<string> {
  const { scope, orgId: own, partnerId, orgAccess, membershipId } = user(call);
  const id = orgId.toLowerCase();
  if (scope === "organization") {
    if (id !== own) throw problem("ORG_ACCESS_DENIED");
    return id;
  }
  const found = await call.readAsSystem("read audit chain", async (db) => {
    let query = db.selectFrom("organizations").select("organizations.id").where("organizations.id", "=", id);
    if (scope === "partner") query = query.where("organizations.partnerId", "=", partnerId);
    if (scope === "partner" && orgAccess !== "all") {
      const granted = db.selectFrom("partnerUserOrgs").select("orgId").where("membershipId", "=", membershipId);
      query = query.where("organizations.id", "in", granted);
    }
    return query.executeTakeFirst();
  });
  if (!found || orgAccess === "none") throw problem("ORG_ACCESS_DENIED");
  return found.id;
}
