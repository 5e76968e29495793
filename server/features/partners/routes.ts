import { partners } from "#contract/resources/partners";
import { user } from "#server/access/principal";
import { implement } from "#server/http/implement";
import { problem } from "#server/problem";
import { createPartner } from "./create.ts";
import { listPartners } from "./list.ts";
import { getPartner } from "./queries.ts";
import { removePartner } from "./remove.ts";
import { updateOwnPartner, updatePartner } from "./update.ts";

export const partnerRoutes = implement(partners, {
  async getMine(call) {
    const { partnerId } = user(call);
    if (partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
    return getPartner(call.db, partnerId);
  },
  updateMine: updateOwnPartner,
  list: listPartners,
  create: createPartner,
  get: (call) => getPartner(call.db, call.params.id),
  update: updatePartner,
  remove: removePartner,
});
