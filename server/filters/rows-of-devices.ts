import type { Expression, SqlBool } from "kysely";
import type { FilterCondition } from "#contract/core/filters/condition";
import { compare, readField } from "./compare.ts";
import { type Context, hasRow, indirect } from "./context.ts";

/** Tables with at most one row of a device. */
export type RowTable = "deviceHardware" | "deviceNewestMetrics";

/** The table that a condition has a row of. */
export function rowOf({ field }: FilterCondition): RowTable | undefined {
  if (field.startsWith("metrics.")) return "deviceNewestMetrics";
  return field.startsWith("hardware.") ? "deviceHardware" : undefined;
}

/** Nothing is known where there is no row, nor where the row says nothing. */
export function compareRow(at: Context, table: RowTable, condition: FilterCondition): Expression<SqlBool> {
  const one = (each: Expression<SqlBool>[]) => at.eb.and(each);
  if (condition.operator !== "isNull") return compareRows(at, table, [condition], one);
  return at.eb.not(compareRows(indirect(at), table, [{ ...condition, operator: "isNotNull" }], one));
}

/** Several conditions, none of them `isNull`, of one row: another look at the table would cost as much as the first. */
export const compareRows = (
  at: Context,
  table: RowTable,
  conditions: readonly FilterCondition[],
  joined: (each: Expression<SqlBool>[]) => Expression<SqlBool>,
): Expression<SqlBool> =>
  hasRow(at, table, (column) => [
    joined(
      conditions.map((condition) => {
        const { type, ...asked } = readField(condition);
        return compare(at, { type, of: column(condition.field.split(".")[1] as string) }, asked);
      }),
    ),
  ]);
