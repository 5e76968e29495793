import { organizations } from "#contract/resources/tenancy/organizations";
import { implement } from "#server/http/implement";
import { createOrganization } from "./create.ts";
import { listAccessibleOrganizations, listOrganizations } from "./list.ts";
import { orderOrganizations } from "./order.ts";
import { getOrganization } from "./queries.ts";
import { removeOrganization } from "./remove.ts";
import { updateOrganization } from "./update.ts";

export const routes = implement(organizations, {
  listAccessible: listAccessibleOrganizations,
  list: listOrganizations,
  create: createOrganization,
  order: orderOrganizations,
  get: (call) => getOrganization(call.db, call.params.id),
  update: updateOrganization,
  remove: removeOrganization,
});
