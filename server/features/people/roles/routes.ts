import { roles } from "#contract/resources/people/roles";
import { implement } from "#server/http/implement";
import { listTenantRoles } from "./list.ts";

export const routes = implement(roles, { list: listTenantRoles });
