import { user } from "#server/access/principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getPartner } from "./queries.ts";

/**
 * The caller's partner. Whoever is confined to some organizations sees those alone in the partner's order of them: the
 * others' ids, and how many there are, are not theirs to know.
 */
export async function getOwnPartner(call: Call) {
  const { partnerId, orgAccess } = user(call);
  if (partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
  const partner = await getPartner(call.db, partnerId);
  const order = partner.settings["organizationOrder"];
  if (orgAccess === "all" || !Array.isArray(order)) return partner;
  const reached = new Set((await call.db.selectFrom("organizations").select("id").execute()).map(({ id }) => id));
  const organizationOrder = order.filter((id) => reached.has(id));
  return { ...partner, settings: { ...partner.settings, organizationOrder } };
}
