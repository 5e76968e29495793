import { partners } from "#contract/resources/tenancy/partners";
import { implement } from "#server/http/implement";
import { createPartner } from "./create.ts";
import { getOwnPartner } from "./get-own.ts";
import { listPartners } from "./list.ts";
import { getPartner } from "./queries.ts";
import { removePartner } from "./remove.ts";
import { updateOwnPartner, updatePartner } from "./update.ts";

export const routes = implement(partners, {
  getMine: getOwnPartner,
  updateMine: updateOwnPartner,
  list: listPartners,
  create: createPartner,
  get: (call) => getPartner(call.db, call.params.id),
  update: updatePartner,
  remove: removePartner,
});
