import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool } from "kysely";
import type { DialectName } from "#server/db/dialect/index";
import type { Database } from "#server/db/tables";
import type { Definition } from "./definitions.ts";

export type Devices = ExpressionBuilder<Database, "devices">;

/** What the compilation of a filter knows. */
export interface Context {
  readonly eb: Devices;
  readonly dialect: DialectName;
  /** Milliseconds. */
  readonly nowMs: number;
  readonly definitions: readonly Definition[];
  /** The outer query looks at few devices: what belongs to one is looked up for each. */
  readonly few: boolean;
  /** All devices are of this organization. */
  readonly orgId: string | undefined;
}

/** Tables with rows of a device. */
export type DeviceTable =
  | "deviceHardware"
  | "deviceInterfaces"
  | "deviceNewestMetrics"
  | "deviceSoftware"
  | "deviceSoftwareReports"
  | "devicePatches"
  | "devicePatchReports"
  | "deviceGroupMembers";

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
  if (at.dialect === "postgres" || at.few)
    return at.eb.exists(
      query
        .select(rows.lit(1).as("found"))
        .whereRef(deviceId, "=", "devices.id" as never)
        .whereRef(orgId, "=", "devices.orgId" as never),
    );
  // Samples stay behind when their device moves to another organization; all else goes along.
  if (table === "deviceNewestMetrics")
    return at.eb(
      at.eb.refTuple("devices.orgId", "devices.id"),
      "in",
      query.select([orgId, deviceId]).$asTuple("orgId", "deviceId"),
    );
  return at.eb("devices.id", "in", query.select(deviceId));
}
