import type { Kysely } from "kysely";
import type { FilterGroup } from "#contract/core/filters/condition";
import { isOfOrgInLists, orgsInList } from "#server/access/org-access";
import { withIds } from "#server/db/dialect/json";
import { word } from "#server/db/dialect/text";
import type { Scope } from "#server/db/scope";
import type { Database } from "#server/db/tables";
import type { Devices } from "./context.ts";
import { type DeviceCondition, seesDecommissioned } from "./device-condition.ts";

export interface Narrowed {
  readonly filter: FilterGroup;
  readonly condition: DeviceCondition;
  /** An organization that `getNamedOrg` has let through; otherwise all that lists show. */
  readonly orgId: string | undefined;
  /** Of these devices, each of which is looked up among the organizations. */
  readonly ids?: readonly string[] | undefined;
}

/** The devices of a filter that a list of the caller shows (docs/filters.md, "Scope"). */
export function devicesInList(db: Kysely<Database>, scope: Scope, { filter, condition, orgId, ids }: Narrowed) {
  let query = ids ? withIds(db, "devices", ids) : db.selectFrom("devices");
  if (orgId !== undefined) query = query.where("devices.orgId", "=", orgId);
  else if (scope.kind === "partner")
    query = query.where("devices.partnerId", "=", scope.partnerId).where(ids ? isShown : isOfOrgInLists);
  else query = query.where("devices.orgId", "in", orgsInList(undefined));
  if (!seesDecommissioned(filter)) query = query.where("devices.status", "<>", word("decommissioned"));
  return query.where(condition);
}

const isShown = (eb: Devices) =>
  eb.exists(orgsInList(undefined).whereRef("organizations.id", "=", "devices.orgId" as never));
