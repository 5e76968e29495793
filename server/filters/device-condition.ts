import { type Expression, expressionBuilder, type SqlBool } from "kysely";
import { conditionsOf, type FilterCondition, type FilterGroup } from "#contract/core/filters/condition";
import { chunks } from "#server/db/chunks";
import { fairTurn } from "#server/db/dialect/fair-turn";
import type { DialectName } from "#server/db/dialect/index";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import { compileCondition } from "./compile-condition.ts";
import { type Context, type Devices, indirect, type Meets } from "./context.ts";
import { customColumns } from "./custom-columns.ts";
import { definitionsFor } from "./definitions.ts";
import { compareRows, type RowTable, rowOf } from "./rows-of-devices.ts";
import { seenGroups } from "./seen-groups.ts";

export interface ConditionOptions {
  /** ISO-8601: what `withinLast` and the days since a time count from. */
  readonly now: string;
  readonly dialect: DialectName;
  /** All devices that the query looks at are of this organization. */
  readonly orgId?: string;
  /** The query finds few devices by their ids, such as the one that has changed. */
  readonly few?: boolean;
}

/** To be ANDed to what narrows a query of devices: `query.where(condition)`. Null counts as false, so never negate it. */
export type DeviceCondition = (eb: Devices) => Expression<SqlBool>;

/**
 * A checked filter as a condition over `devices` (docs/filters.md). It does not narrow anything to a tenant: run it on a
 * scoped handle, or beside a condition on the organization. Definitions of custom fields are read through `db`, which
 * must reach those of all devices that the query looks at; groups that it does not reach have no devices. Whether decommissioned devices may be seen is the caller's
 * (`seesDecommissioned`).
 */
export async function deviceCondition(
  db: Reader,
  filter: FilterGroup,
  { few = false, ...options }: ConditionOptions,
): Promise<DeviceCondition> {
  const conditionFor = await conditionMaker(db, filter, options);
  return conditionFor(few ? "some" : "wanted");
}

interface MakerOptions extends Omit<ConditionOptions, "few"> {
  readonly groups?: ReadonlySet<string>;
  /** Comparisons of custom fields that are written in full (`customColumns`). */
  readonly written?: number | undefined;
}

/** The same for several queries, which meet devices in different ways. A thousand conditions let others have their turn. */
export async function conditionMaker(
  db: Reader,
  filter: FilterGroup,
  { now, dialect, orgId, groups: known, written }: MakerOptions,
): Promise<(meets: Meets, driving?: Context["driving"]) => Promise<DeviceCondition>> {
  const definitions = await definitionsFor(db, filter, orgId);
  const groups = known ?? (await seenGroups(db, filter));
  const at = { dialect, nowMs: Date.parse(now), definitions, groups, orgId };
  const eb = expressionBuilder<Database, "devices">();
  const custom = await customColumns(eb, filter, { ...at, written });
  return async (meets, driving) => {
    const how = { meets, driving, direct: custom === undefined, columns: custom?.columns };
    const compiled = await compileGroup({ eb, ...at, ...how }, filter);
    const whole = custom ? await custom.wrap(compiled) : compiled;
    return () => whole;
  };
}

async function compileGroup(at: Context, { operator, conditions }: FilterGroup): Promise<Expression<SqlBool>> {
  const within = operator === "AND" || conditions.every(isSet) ? at : indirect(at);
  const parts: Expression<SqlBool>[] = [];
  const join = (each: Expression<SqlBool>[]) => joined(at, operator, each);
  for (const part of withRowsTogether(conditions)) {
    await fairTurn();
    if ("table" in part) parts.push(compareRows(within, part.table, part.conditions, join));
    else parts.push("conditions" in part ? await compileGroup(within, part) : compileCondition(within, part));
  }
  return joined(at, operator, parts);
}

/** So many are compiled without letting others have their turn. */
const TOGETHER_MAX = 20;

interface Together {
  readonly table: RowTable;
  readonly conditions: readonly FilterCondition[];
}

/** The parts of a group, conditions on the same row of a device together. */
function withRowsTogether(parts: FilterGroup["conditions"]): (FilterGroup | FilterCondition | Together)[] {
  const ofRows: Record<RowTable, FilterCondition[]> = { deviceHardware: [], deviceNewestMetrics: [] };
  const others = parts.filter((part) => {
    const table = "field" in part && part.operator !== "isNull" ? rowOf(part) : undefined;
    if (table !== undefined) ofRows[table].push(part as FilterCondition);
    return table === undefined;
  });
  const together = Object.entries(ofRows).flatMap(([table, all]) =>
    chunks(all, TOGETHER_MAX).map((conditions) => ({ table: table as RowTable, conditions })),
  );
  return [...others, ...together];
}

/** Conditions that are sets of devices: an index serves several of them at once. */
const isSet = (part: FilterGroup | FilterCondition): boolean =>
  "field" in part &&
  ((part.field === "tags" && part.operator === "hasAny") ||
    part.field === "groupId" ||
    (part.field === "software.installed" && part.operator !== "notContains"));

/** Halves of halves: a chain of a thousand would be deeper than SQLite takes. */
function joined(at: Context, operator: "AND" | "OR", parts: readonly Expression<SqlBool>[]): Expression<SqlBool> {
  if (parts.length <= 8) return operator === "AND" ? at.eb.and([...parts]) : at.eb.or([...parts]);
  const middle = Math.ceil(parts.length / 2);
  return joined(at, operator, [
    joined(at, operator, parts.slice(0, middle)),
    joined(at, operator, parts.slice(middle)),
  ]);
}

const asksForDecommissioned = ({ field, operator, value }: FilterCondition): boolean =>
  field === "status" &&
  ((operator === "equals" && value === "decommissioned") ||
    (operator === "in" && Array.isArray(value) && value.includes("decommissioned")));

/**
 * Whether a preview of the filter shows devices that are out of service: where a condition names that status. Nothing that
 * acts or bills ever does, whatever the filter says (docs/filters.md, "Scope").
 */
export const seesDecommissioned = (filter: FilterGroup): boolean =>
  [...conditionsOf(filter)].some(asksForDecommissioned);
