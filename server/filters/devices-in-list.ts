import { expressionBuilder, type Kysely } from "kysely";
import type { FilterGroup } from "#contract/core/filters/condition";
import { visibleInLists } from "#server/access/org-access";
import { word } from "#server/db/dialect/text";
import type { Scope } from "#server/db/scope";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import { type DeviceCondition, seesDecommissioned } from "./device-condition.ts";

export interface Narrowed {
  readonly filter: FilterGroup;
  readonly condition: DeviceCondition;
  /** An organization that `getNamedOrg` has let through; otherwise all that lists show. */
  readonly orgId: string | undefined;
}

/** The devices of a filter that a list of the caller shows (docs/filters.md, "Scope"). */
export function devicesInList(reader: Reader, scope: Scope, { filter, condition, orgId }: Narrowed) {
  const db = reader as Kysely<Database>;
  let query = db.selectFrom("devices");
  if (orgId !== undefined) query = query.where("devices.orgId", "=", orgId);
  else if (scope.kind === "partner")
    query = query.where("devices.partnerId", "=", scope.partnerId).where("devices.orgId", "not in", hidden());
  else query = query.where("devices.orgId", "in", organizations().where(visibleInLists));
  if (!seesDecommissioned(filter)) query = query.where("devices.status", "<>", word("decommissioned"));
  return query.where(condition);
}

/** Built without a handle: the outer query narrows it to the caller's scope. */
const organizations = () => expressionBuilder<Database, never>().selectFrom("organizations").select("organizations.id");

/** Few of a partner's organizations are hidden: each device is soon looked for among them. */
const hidden = () => organizations().where((eb) => eb.not(visibleInLists(eb)));
