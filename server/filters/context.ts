import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool } from "kysely";
import type { FilterCondition } from "#contract/core/filters/condition";
import { isInArray, tupleOf, withoutIndex } from "#server/db/dialect/filter-values";
import type { DialectName } from "#server/db/dialect/index";
import type { Database } from "#server/db/tables";
import type { CustomColumns } from "./custom-readings.ts";
import type { Definition } from "./definitions.ts";

export type Devices = ExpressionBuilder<Database, "devices">;

/**
 * Which devices the outer query meets, for SQLite, which plans as it is told:
 * - `wanted`: those that the condition says, found by its indexes.
 * - `all`: every device once. What the condition says of other tables is made a set to look into.
 * - `some`: few, by their ids or until a page is full. What belongs to a device is looked up for each.
 */
export type Meets = "wanted" | "all" | "some";

/** What the compilation of a filter knows. */
export interface Context {
  readonly eb: Devices;
  readonly dialect: DialectName;
  /** Milliseconds. */
  readonly nowMs: number;
  readonly definitions: readonly Definition[];
  /** Where conditions on custom fields are many. */
  readonly columns?: CustomColumns | undefined;
  /** Groups that the filter names and its reader sees. */
  readonly groups: ReadonlySet<string>;
  readonly meets: Meets;
  /** Conditions that say which few devices are read, where otherwise all would be. */
  readonly driving?: ReadonlySet<FilterCondition> | undefined;
  /** What is compiled narrows the whole filter: it stands in no group and no negation that could let others pass. */
  readonly direct: boolean;
  /** All devices are of this organization. */
  readonly orgId: string | undefined;
}

/** Tables with rows of a device. */
export type DeviceTable =
  | "deviceHardware"
  | "deviceTags"
  | "deviceInterfaces"
  | "deviceNewestMetrics"
  | "deviceSoftware"
  | "devicePatches"
  | "devicePatchReports"
  | "deviceGroupMembers";

/** Tables in which nearly every device has a row: a set of all would cost more than looking. */
const ofMost: ReadonlySet<DeviceTable> = new Set(["devicePatchReports"]);

/** For what is negated, or stands beside what others let pass. */
export const indirect = (at: Context): Context => ({ ...at, direct: false });

/** All of these tables have the two columns by which they are joined. */
type Rows = ExpressionBuilder<Database, "deviceHardware">;

/**
 * Devices with a row of the table that satisfies `where`. Postgres looks for each device, or makes a table of them by
 * itself; SQLite would look for each, so unless these are few it gets the set of devices that have such a row.
 */
export function hasRow(
  at: Context,
  table: DeviceTable,
  where: (column: (name: string) => Expression<never>) => readonly Expression<SqlBool>[],
): Expression<SqlBool> {
  const column = (name: string) => rows.ref(`${table}.${name}` as "deviceHardware.model") as Expression<never>;
  // Built without a handle: the outer query narrows it to the caller's scope.
  const rows = expressionBuilder<Database, never>() as unknown as Rows;
  let query = expressionBuilder<Database, never>()
    .selectFrom(table as "deviceHardware")
    .where(rows.and([...where(column)]));
  if (at.orgId !== undefined) query = query.where(`${table}.orgId` as "deviceHardware.orgId", "=", at.orgId);
  const [orgId, deviceId] = [`${table}.orgId`, `${table}.deviceId`] as [
    "deviceHardware.orgId",
    "deviceHardware.deviceId",
  ];
  // Postgres finds few devices by a list of ids; beside other conditions it would look through the whole list for each.
  if (
    at.dialect === "postgres" &&
    at.meets === "wanted" &&
    at.direct &&
    !ofMost.has(table) &&
    table !== "deviceNewestMetrics"
  )
    return isInArray(at.eb.ref("devices.id"), query.select(deviceId));
  if (at.dialect === "postgres" || at.meets === "some" || ofMost.has(table)) {
    const ofDevice = query
      .select(rows.lit(1).as("found"))
      .whereRef(deviceId, "=", "devices.id" as never)
      .whereRef(orgId, "=", "devices.orgId" as never);
    // An offset keeps Postgres from reading the whole table first, for all devices at once.
    const isEach = at.dialect === "postgres" && at.meets === "some";
    return at.eb.exists(isEach ? ofDevice.offset((eb) => eb.lit(0)) : ofDevice);
  }
  const walked = at.meets === "all";
  const own = (name: "orgId" | "id") =>
    walked ? withoutIndex(at.eb.ref(`devices.${name}`)) : at.eb.ref(`devices.${name}`);
  // Samples stay behind when their device moves to another organization; all else goes along.
  if (table === "deviceNewestMetrics")
    return at.eb(tupleOf(own("orgId"), own("id")), "in", query.select([orgId, deviceId]) as never);
  return at.eb(own("id"), "in", query.select(deviceId));
}
