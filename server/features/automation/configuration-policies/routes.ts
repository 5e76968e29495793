import { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import { implement } from "#server/http/implement";
import { createPolicy } from "./create.ts";
import { deactivatePolicy } from "./deactivate.ts";
import { showPolicy } from "./get.ts";
import { listPolicies } from "./list.ts";
import { removePolicy } from "./remove.ts";
import { showEffective } from "./show-effective.ts";
import { replacePolicy, updatePolicy } from "./update.ts";

export const routes = implement(configurationPolicies, {
  list: listPolicies,
  create: createPolicy,
  effective: showEffective,
  get: showPolicy,
  replace: replacePolicy,
  update: updatePolicy,
  remove: removePolicy,
  deactivate: deactivatePolicy,
});
