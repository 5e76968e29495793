import { sites } from "#contract/resources/tenancy/sites";
import { implement } from "#server/http/implement";
import { createSite } from "./create.ts";
import { listSites } from "./list.ts";
import { getSite } from "./queries.ts";
import { removeSite } from "./remove.ts";
import { updateSite } from "./update.ts";

export const routes = implement(sites, {
  list: listSites,
  create: createSite,
  get: (call) => getSite(call, call.db, call.params.id),
  update: updateSite,
  remove: removeSite,
});
