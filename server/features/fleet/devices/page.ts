import type { Kysely, OrderByItemBuilder } from "kysely";
import { withIds } from "#server/db/dialect/json";
import { type Compilable, preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import type { DeviceSort, SortDirection } from "./cursor.ts";
import { type Asked, filteredDevices, type ListCall } from "./filters.ts";

/**
 * Which devices a page shows. These statements touch little more than indexes, so that what is passed over costs little; the
 * rows are read by id afterwards (`list-item.ts`).
 */

/** Up to this many are found by organization and sorted; of more, a page is soon met in the order of an index. */
const FEW = 2_000;

/** Where the devices of a list are looked for: these few, or all in the order of an index. */
type Source = { few: string[] | undefined };

/** A whole partner's devices are met in an index of that partner. */
function walked<A extends Asked, Form, Row>(build: (db: Kysely<Database>, asked: A, form: Form) => Compilable<Row>) {
  const [any, whole] = [preparedRows(build), preparedRows(build, { by: "partner" })];
  return (db: Reader, asked: A, form: Form) => (asked.partnerId === undefined ? any : whole)(db, asked, form);
}

/** Devices that satisfy the filters, up to one more than are few. */
const fewOf = walked((db, asked: Asked) =>
  filteredDevices(db, asked)
    .select("devices.id")
    // A parameter would double what this costs SQLite (measured).
    .limit((eb) => eb.lit(FEW + 1)),
);

const countOf = walked((db, asked: Asked) =>
  filteredDevices(db, asked).select((eb) => eb.fn.countAll<number>().as("total")),
);

/** Where to look: once for those that are few, unless nothing is filtered. */
export async function lookFor(call: ListCall, asked: Asked): Promise<Place> {
  if (isWhole(asked)) return { ...asked, few: undefined };
  const found = await fewOf(call.db, asked, null);
  return { ...asked, few: found.length > FEW ? undefined : found.map(({ id }) => id) };
}

/** How many devices there are in all. */
export async function totalOf(call: ListCall, { few, ...asked }: Place): Promise<number> {
  return few?.length ?? Number((await countOf(call.db, asked, null))[0]?.total);
}

/** Of a partner's devices without a filter a page is met at once in the order of an index. */
const isWhole = ({ partnerId, siteIds, groupIds, status, osType, role, pattern, nothing }: Asked) =>
  partnerId !== undefined &&
  !nothing &&
  [siteIds, groupIds, status, osType, role, pattern].every((filter) => filter === undefined);

type Place = Asked & Source;

const sourced = (db: Kysely<Database>, { few, ...asked }: Place) =>
  few === undefined ? filteredDevices(db, asked) : withIds(db, "devices", few);

/** Those seen last come first, those that were never seen last. */
export const idsByPage = walked((db, { limit, offset, ...place }: Place & { limit: number; offset: number }) =>
  sourced(db, place)
    .select("devices.id")
    .orderBy("devices.lastSeenAt", (order) => order.desc().nullsLast())
    .orderBy("devices.id", "desc")
    .limit(limit)
    .offset(offset),
);

const keys = {
  hostname: "devices.hostnameKey",
  lastSeen: "devices.lastSeenAt",
  enrolled: "devices.enrolledAt",
} as const;

interface Order {
  readonly sort: DeviceSort;
  readonly sortDir: SortDirection;
}

type Walk = Place & { limit: number; afterKey: string | undefined; afterId: string | undefined };

/** Devices that have a key, behind one of them. */
export const idsByKey = walked((db, { limit, afterKey, afterId, ...place }: Walk, { sort, sortDir }: Order) => {
  const key = keys[sort];
  let query = sourced(db, place).where(key, "is not", null);
  if (afterKey !== undefined && afterId !== undefined) {
    query = query.where((eb) => eb(eb.refTuple(key, "devices.id"), beyond(sortDir), eb.tuple(afterKey, afterId)));
  }
  return query
    .select((eb) => ["devices.id", eb.ref(key).as("key")])
    .orderBy(key, sort === "hostname" ? sortDir : inIndex(sortDir))
    .orderBy("devices.id", sortDir)
    .limit(limit);
});

/** Devices without a key, in the order of their ids. */
export const idsWithoutKey = walked((db, { limit, afterKey: _, afterId, ...place }: Walk, order: Order) => {
  const { sort, sortDir } = order;
  const all = sourced(db, place).where(keys[sort], "is", null);
  const behind = afterId === undefined ? all : all.where("devices.id", beyond(sortDir), afterId);
  return behind.select("devices.id").orderBy("devices.id", sortDir).limit(limit);
});

const beyond = (direction: SortDirection) => (direction === "asc" ? ">" : "<");

/**
 * No key is null here: said as the index of times has it, so that the database reads it backwards. That of hostnames has
 * no nulls to place.
 */
const inIndex = (direction: SortDirection) => (order: OrderByItemBuilder) =>
  direction === "asc" ? order.asc().nullsFirst() : order.desc().nullsLast();
