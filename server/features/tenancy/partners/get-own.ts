import { user } from "#server/access/principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getPartner } from "./queries.ts";

/**
 * The caller's partner. A caller who reaches only some organizations sees only those in the stored order: it must not
 * learn the ids or the number of the others.
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
