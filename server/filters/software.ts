import type { Expression, SqlBool } from "kysely";
import { isOneOf, titleContains } from "#server/db/dialect/filter-values";
import type { Asked } from "./compare.ts";
import { type Context, hasRow, indirect } from "./context.ts";

/** What is installed is known of devices that have reported it (docs/filters.md, "Special fields"). */
export function compareSoftware(
  at: Context,
  field: "software.installed" | "software.notInstalled",
  { operator, value }: Asked,
): Expression<SqlBool> {
  const { eb } = at;
  const isOne = (titles: readonly string[]) =>
    hasRow(at, "deviceSoftware", (column) => [isOneOf(column("name"), titles, at.dialect)]);
  if (operator === "hasAll") return eb.and([...new Set(value as readonly string[])].map((title) => isOne([title])));
  if (operator === "equals") return isOne([value as string]);
  if (operator === "in" || operator === "hasAny") return isOne(value as readonly string[]);
  const isPositive = operator === "contains" && field === "software.installed";
  const contains = hasRow(isPositive ? at : indirect(at), "deviceSoftware", (column) => [
    titleContains(column("name"), value as string, at.dialect),
  ]);
  if (isPositive) return contains;
  return eb.and([eb("devices.softwareReported", "=", true), eb.not(contains)]);
}
