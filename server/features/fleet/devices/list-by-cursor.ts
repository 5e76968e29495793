import type { AliasableExpression, Expression, ExpressionBuilder, SqlBool } from "kysely";
import { lenientInt } from "#contract/core/page";
import type { DialectName } from "#server/db/dialect/index";
import { byteOrder } from "#server/db/dialect/ordering";
import { fold } from "#server/db/dialect/text";
import type { Database } from "#server/db/tables";
import { type DeviceCursor, type DeviceSort, encodeCursor, readCursor } from "./cursor.ts";
import { filteredDevices, type ListCall } from "./filters.ts";
import { toListItems } from "./list-item.ts";
import { deviceColumns } from "./queries.ts";

type Builder = ExpressionBuilder<Database, "devices">;

/**
 * One page of devices by cursor (docs/fleet.md, "Device cursors"). The cursor holds the last key and id, so devices
 * that are added, removed or changed elsewhere do not repeat or hide others. A device whose own key changes meanwhile
 * moves in the order: with `hostname` or `enrolled` each device appears exactly once.
 */
export async function listByCursor(call: ListCall) {
  const { cursor, includeTotal } = call.query;
  const { sort, sortDir, from } = readCursor(cursor, call.query);
  const limit = lenientInt({ default: 50, min: 1, max: 1_000 }).parse(call.query.limit);
  const { dialect } = call.services.store;
  const filtered = await filteredDevices(call);
  let query = filtered
    .select(deviceColumns)
    .select("organizations.name as orgName")
    .select((eb) => sortKey(eb, sort, dialect).as("sortKey"))
    .orderBy(
      (eb) => sortKey(eb, sort, dialect),
      (order) => order[sortDir]().nullsLast(),
    )
    .orderBy("devices.id", sortDir)
    .limit(limit + 1);
  if (from) query = query.where((eb) => behind(eb, from, dialect));
  const rows = await query.execute();
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const items = await toListItems(
    call.db,
    shown.map(({ sortKey: _, ...row }) => row),
  );
  return {
    devices: items,
    nextCursor: last ? encodeCursor({ v: 1, sort, sortDir, key: last.sortKey, id: last.id }) : null,
    limit,
    ...(includeTotal === true ? { total: await count(filtered) } : {}),
  };
}

/** Hostnames sort without case and in byte order, which both databases agree on. */
function sortKey(eb: Builder, sort: DeviceSort, dialect: DialectName): AliasableExpression<string | null> {
  if (sort === "hostname") return byteOrder(fold(eb.ref("devices.hostname")), dialect);
  return eb.ref(sort === "lastSeen" ? "devices.lastSeenAt" : "devices.enrolledAt");
}

/** Devices without a key come last, in the order of their ids. */
function behind(eb: Builder, from: DeviceCursor, dialect: DialectName): Expression<SqlBool> {
  const beyond = from.sortDir === "asc" ? ">" : "<";
  const key = sortKey(eb, from.sort, dialect);
  const laterId = eb("devices.id", beyond, from.id);
  if (from.key === null) return eb.and([eb(key, "is", null), laterId]);
  return eb.or([eb(key, beyond, from.key), eb.and([eb(key, "=", from.key), laterId]), eb(key, "is", null)]);
}

async function count(filtered: Awaited<ReturnType<typeof filteredDevices>>): Promise<number> {
  const { total } = await filtered.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return Number(total);
}
