import { type ExpressionBuilder, expressionBuilder, type SelectQueryBuilder } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/tenancy/organizations";
import { visibleInLists } from "#server/access/org-access";
import type { DialectName } from "#server/db/dialect/index";
import { placeIn } from "#server/db/dialect/ordering";
import { containsPattern, fold, matches } from "#server/db/dialect/text";
import { prepared, preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import { type Call, user } from "#server/http/call";
import { organizationColumns } from "./queries.ts";

type ListCall = typeof organizations.list extends Endpoint<infer T> ? Call<T> : never;

/**
 * In the partner's order, then by creation; the order is applied before paging
 * (docs/tenancy.md, "Order of organizations").
 */
export async function listOrganizations(call: ListCall) {
  const { partnerId, status, search, page, limit } = call.query;
  const pattern = search === undefined || search === "" ? undefined : containsPattern(search);
  const asked = { partnerId, status, pattern };
  const order = await ownOrder(call);
  const form = { dialect: call.services.store.dialect };
  const [total, data] = await Promise.all([
    countOf(call.db, asked, null),
    pageOf(call.db, { ...asked, order, limit, offset: (page - 1) * limit }, form),
  ]);
  return { data: data.map(counted), pagination: { page, limit, total: Number(total[0]?.total) } };
}

type Organizations = SelectQueryBuilder<Database, "organizations", object>;

type Asked = { partnerId: string | undefined; status: string | undefined; pattern: string | undefined };

function filtered(all: Organizations, { partnerId, status, pattern }: Asked): Organizations {
  let query =
    status === undefined ? all.where(visibleInLists) : all.where("organizations.status", "=", status as "active");
  if (partnerId !== undefined) query = query.where("organizations.partnerId", "=", partnerId);
  if (pattern === undefined) return query;
  return query.where((eb) =>
    eb.or([matches(eb.ref("organizations.name"), pattern), matches(eb.ref("organizations.slug"), pattern)]),
  );
}

const countOf = preparedRows((db, asked: Asked) =>
  filtered(db.selectFrom("organizations"), asked).select((eb) => eb.fn.countAll<number>().as("total")),
);

type Paged = Asked & { order: string[] | undefined; limit: number; offset: number };

/** Chooses the page first: devices are counted for its organizations alone. */
const pageOf = preparedRows((db, { order, limit, offset, ...asked }: Paged, { dialect }: { dialect: DialectName }) => {
  const place = (eb: Builder) => placeIn(eb.ref("organizations.id"), order ?? [], dialect);
  // Built without a handle: the outer query narrows it to the caller's scope.
  const chosen = filtered(expressionBuilder<Database, never>().selectFrom("organizations"), asked)
    .select("organizations.id")
    .$if(order !== undefined, (query) => query.orderBy(place))
    .orderBy("organizations.createdAt")
    .orderBy("organizations.id")
    .limit(limit)
    .offset(offset);
  return (
    db
      .selectFrom(chosen.as("chosen"))
      // SQLite keeps the order of a cross join: a page is small, a partner may be large.
      .crossJoin("organizations")
      .whereRef("organizations.id", "=", "chosen.id")
      .select(organizationColumns)
      .select(deviceCount)
      .$if(order !== undefined, (query) => query.orderBy(place))
      .orderBy("organizations.createdAt")
      .orderBy("organizations.id")
  );
});

/** A subquery's count may be null in type, never in fact. */
const counted = <R extends { deviceCount: number | null }>(row: R) => ({
  ...row,
  deviceCount: Number(row.deviceCount ?? 0),
});

/** Every organization that the caller reaches, by name, without pages (docs/tenancy.md, "Organizations"). */
export async function listAccessibleOrganizations(call: Call) {
  const data = await accessible(call.db, {}, null);
  return { data: data.map(counted) };
}

const accessible = preparedRows((db) =>
  db
    .selectFrom("organizations")
    .select(organizationColumns)
    .select(deviceCount)
    .where(visibleInLists)
    .orderBy((eb) => fold(eb.ref("organizations.name")))
    .orderBy("organizations.id"),
);

type Builder = ExpressionBuilder<Database, "organizations">;

const deviceCount = (eb: Builder) =>
  eb
    .selectFrom("devices")
    .select((inner) => inner.fn.countAll<number>().as("n"))
    .whereRef("devices.orgId", "=", "organizations.id")
    .where("devices.status", "<>", "decommissioned")
    .as("deviceCount");

/** Of the caller's partner, or of the one a system caller filters by. */
async function ownOrder(call: ListCall): Promise<string[] | undefined> {
  const who = user(call);
  const partnerId = who.scope === "system" ? (call.query.partnerId ?? null) : who.partnerId;
  if (partnerId === null) return undefined;
  const partner = await settingsOf(call.db, { partnerId });
  const order = partner?.settings["organizationOrder"];
  return Array.isArray(order) && order.length > 0 ? (order as string[]) : undefined;
}

const settingsOf = prepared(["partnerId"], (db, at) =>
  db.selectFrom("partners").select("settings").where("id", "=", at.partnerId),
);
