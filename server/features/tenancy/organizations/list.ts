import type { ExpressionBuilder } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/tenancy/organizations";
import { visibleInLists } from "#server/access/org-access";
import { placeIn } from "#server/db/dialect/ordering";
import { contains, fold } from "#server/db/dialect/text";
import { paginate } from "#server/db/paginate";
import type { Database } from "#server/db/tables";
import { type Call, user } from "#server/http/call";
import { organizationColumns } from "./queries.ts";

type ListCall = typeof organizations.list extends Endpoint<infer T> ? Call<T> : never;

/**
 * In the partner's order, then by creation; the order is applied before paging
 * (docs/tenancy.md, "Order of organizations").
 */
export async function listOrganizations(call: ListCall) {
  const { partnerId, status, search } = call.query;
  let query = call.db.selectFrom("organizations").select(organizationColumns).select(deviceCount);
  query = status === undefined ? query.where(visibleInLists) : query.where("organizations.status", "=", status);
  if (partnerId !== undefined) query = query.where("organizations.partnerId", "=", partnerId);
  if (search !== undefined && search !== "") {
    query = query.where((eb) =>
      eb.or([contains(eb.ref("organizations.name"), search), contains(eb.ref("organizations.slug"), search)]),
    );
  }
  const order = await ownOrder(call);
  if (order.length > 0)
    query = query.orderBy((eb) => placeIn(eb.ref("organizations.id"), order, call.services.store.dialect));
  const page = await paginate(query.orderBy("organizations.createdAt").orderBy("organizations.id"), call.query);
  return { ...page, data: page.data.map(counted) };
}

/** A subquery's count may be null in type, never in fact. */
const counted = <R extends { deviceCount: number | null }>(row: R) => ({
  ...row,
  deviceCount: Number(row.deviceCount ?? 0),
});

/** Every organization that the caller reaches, by name, without pages (docs/tenancy.md, "Organizations"). */
export async function listAccessibleOrganizations(call: Call) {
  const data = await call.db
    .selectFrom("organizations")
    .select(organizationColumns)
    .select(deviceCount)
    .where(visibleInLists)
    .orderBy((eb) => fold(eb.ref("organizations.name")))
    .orderBy("organizations.id")
    .execute();
  return { data: data.map(counted) };
}

const deviceCount = (eb: ExpressionBuilder<Database, "organizations">) =>
  eb
    .selectFrom("devices")
    .select((inner) => inner.fn.countAll<number>().as("n"))
    .whereRef("devices.orgId", "=", "organizations.id")
    .where("devices.status", "<>", "decommissioned")
    .as("deviceCount");

/** Of the caller's partner, or of the one a system caller filters by. */
async function ownOrder(call: ListCall): Promise<string[]> {
  const who = user(call);
  const partnerId = who.scope === "system" ? (call.query.partnerId ?? null) : who.partnerId;
  if (partnerId === null) return [];
  const partner = await call.db
    .selectFrom("partners")
    .select("settings")
    .where("id", "=", partnerId)
    .executeTakeFirst();
  const order = partner?.settings["organizationOrder"];
  return Array.isArray(order) ? (order as string[]) : [];
}
