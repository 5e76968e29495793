import type { Expression, SqlBool } from "kysely";
import type { FilterCondition } from "#contract/core/filters/condition";
import { customKeyOf, type FilterFieldName } from "#contract/core/filters/fields";
import type { FilterOperator } from "#contract/core/filters/operators";
import { isOneOf } from "#server/db/dialect/filter-values";
import { word } from "#server/db/dialect/text";
import { type Asked, compare, type Operand, readField } from "./compare.ts";
import { type Context, hasRow, indirect } from "./context.ts";
import { compareCustom } from "./custom-fields.ts";
import { compareDaysSince } from "./days-since.ts";
import { compareRow, rowOf } from "./rows-of-devices.ts";
import { compareSoftware } from "./software.ts";
import { compareTags } from "./tags.ts";

/** One condition over devices. The filter was checked. */
export function compileCondition(all: Context, condition: FilterCondition): Expression<SqlBool> {
  const at: Context = all.driving?.has(condition) ? { ...all, meets: "wanted" } : all;
  const key = customKeyOf(condition.field);
  if (key !== undefined) return compareCustom(at, key, condition);
  const table = rowOf(condition);
  if (table !== undefined) return compareRow(at, table, condition);
  return compareField(at, condition.field as FilterFieldName, readField(condition));
}

type Type = Operand["type"];
type Plain = Extract<keyof typeof columns, string>;

/** Fields that are columns of devices. */
const columns = {
  hostname: "string",
  displayName: "string",
  agentVersion: "string",
  lastUser: "string",
  osVersion: "string",
  osBuild: "string",
  lastSeenIp: "string",
  status: "string",
  deviceRole: "string",
  osType: "string",
  watchdogStatus: "string",
  enrolledAt: "datetime",
  lastSeenAt: "datetime",
  quarantinedAt: "datetime",
  isHeadless: "boolean",
  uptimeSeconds: "number",
} as const satisfies Partial<Record<FilterFieldName, Type>>;

const keys: Partial<Record<FilterFieldName, "hostnameKey" | "displayKey">> = {
  hostname: "hostnameKey",
  displayName: "displayKey",
};

function compareField(at: Context, field: FilterFieldName, asked: Asked): Expression<SqlBool> {
  const { eb } = at;
  if (Object.hasOwn(columns, field)) {
    const type = columns[field as Plain];
    const of = (column: Plain | "hostnameKey" | "displayKey") => eb.ref(`devices.${column}`) as Expression<never>;
    const key = keys[field as "hostname"];
    return compare(at, { type, of: of(field as Plain), ...(key === undefined ? {} : { key: of(key) }) }, asked);
  }
  switch (field) {
    case "architecture":
      return compareArchitecture(at, asked);
    case "tags":
      return compareTags(at, asked);
    case "daysSinceLastSeen":
      return compareDaysSince(at, eb.ref("devices.lastSeenAt") as Expression<never>, asked);
    case "daysSinceEnrolled":
      return compareDaysSince(at, eb.ref("devices.enrolledAt") as Expression<never>, asked);
    case "orgId":
    case "siteId":
      return isOneOf(eb.ref(`devices.${field}`), listOf(asked), at.dialect, "uuid");
    case "groupId":
      return hasRow(at, "deviceGroupMembers", (column) => [
        isOneOf(
          column("groupId"),
          listOf(asked).filter((id) => at.groups.has(id)),
          at.dialect,
          "uuid",
        ),
      ]);
    case "software.installed":
    case "software.notInstalled":
      return compareSoftware(at, field, asked);
    case "patches.pending":
      return comparePatches(at, isWanted(asked));
    case "alerts.critical":
      // There are no alerts: none is active.
      return eb.lit(!isWanted(asked));
    case "system.rebootRequired":
      return eb("devices.pendingReboot", "=", isWanted(asked));
  }
  return compareInterfaces(at, field.split(".")[1] as string, asked);
}

const listOf = ({ value }: Asked): string[] => (Array.isArray(value) ? value : [value as string]);

/** Whether a capability is asked for or its absence. */
const isWanted = ({ operator, value }: Asked): boolean => (operator === "equals") === value;

const spellings: Readonly<Record<string, readonly string[]>> = {
  x64: ["x64", "amd64", "x86_64"],
  x86: ["x86", "386", "i386", "i686"],
  arm64: ["arm64", "aarch64"],
};

function compareArchitecture({ eb, dialect }: Context, asked: Asked): Expression<SqlBool> {
  const all = listOf(asked).flatMap((value) => spellings[value] ?? []);
  const isOne = isOneOf(eb.fn<string>("lower", ["devices.architecture"]), all, dialect);
  return asked.operator === "equals" || asked.operator === "in" ? isOne : eb.not(isOne);
}

const opposites: Partial<Record<FilterOperator, FilterOperator>> = {
  notEquals: "equals",
  notContains: "contains",
  notIn: "in",
  isNull: "isNotNull",
};

/** One interface is enough; of what is denied none may have it, and one a value. */
function compareInterfaces(at: Context, name: string, asked: Asked): Expression<SqlBool> {
  const opposite = opposites[asked.operator];
  if (!opposite)
    return hasRow(at, "deviceInterfaces", (column) => [compare(at, { type: "string", of: column(name) }, asked)]);
  const none = at.eb.not(compareInterfaces(indirect(at), name, { ...asked, operator: opposite }));
  if (opposite === "isNotNull") return none;
  return at.eb.and([compareInterfaces(at, name, { operator: "isNotNull", value: undefined }), none]);
}

function comparePatches(at: Context, wanted: boolean): Expression<SqlBool> {
  const isPending = hasRow(wanted ? at : indirect(at), "devicePatches", (column) => [
    at.eb(column("status"), "=", word("pending") as never),
  ]);
  const hasReported = hasRow(at, "devicePatchReports", () => []);
  return at.eb.and([hasReported, wanted ? isPending : at.eb.not(isPending)]);
}
