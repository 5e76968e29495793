import { type Expression, expressionBuilder, type SelectQueryBuilder } from "kysely";
import type { FilterCondition } from "#contract/core/filters/condition";
import { customKeyOf } from "#contract/core/filters/fields";
import { idsNamed, looseNameSearch, type NameField } from "#server/db/dialect/device-names";
import { isOneOf, isPlain, titleContains } from "#server/db/dialect/filter-values";
import type { DialectName } from "#server/db/dialect/index";
import { idList } from "#server/db/dialect/json";
import type { Scope } from "#server/db/scope";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import { readField } from "./compare.ts";

/** What devices are looked for by. */
export interface Indexes {
  readonly db: Reader;
  readonly scope: Scope;
  readonly dialect: DialectName;
  /** An organization that `getNamedOrg` has let through. */
  readonly orgId: string | undefined;
  /** Groups that the filter names and its reader sees. */
  readonly groups: ReadonlySet<string>;
}

/** What an index knows. Built without a handle: the outer query narrows it to the caller's scope. */
export interface IndexLookUp {
  /** Ids of devices as JSON, `most` and one at most: of more, any. */
  ids(most: number): Expression<string>;
  /** How many rows it has of them, `most` and one at most; a name is found by an index that does not count. */
  count?(most: number): Expression<number>;
}

const all = expressionBuilder<Database, never>();
type Rows = SelectQueryBuilder<Database, "deviceTags", { id: string }>;

const lookUpOf = (rows: Rows, dialect: DialectName): IndexLookUp => {
  const some = (most: number) => rows.limit((eb) => eb.lit(most + 1));
  return {
    ids: (most) => idList(some(most), dialect),
    count: (most) =>
      all.selectFrom(some(most).as("found")).select((eb) => eb.fn.countAll<number>().as("total")) as never,
  };
};

/**
 * Looks up in an index devices among which all are that satisfy the condition. Undefined where no index knows, or only one
 * whose use would be worth nothing.
 */
export function devicesByIndex(indexes: Indexes, condition: FilterCondition): IndexLookUp | undefined {
  const { field, operator } = condition;
  if (customKeyOf(field) !== undefined) return undefined;
  const { value } = readField(condition);
  const given = (Array.isArray(value) ? value : [value]) as string[];
  // Of several that are all there, one.
  const texts = operator === "hasAll" ? given.slice(0, 1) : given;
  const { dialect, groups } = indexes;
  switch (field) {
    case "tags":
      if (operator !== "hasAny" && operator !== "hasAll") return undefined;
      return among(indexes, "deviceTags", (rows) => rows.where((eb) => isOneOf(eb.ref("tag"), texts, dialect)));
    case "software.installed":
      if (operator === "notContains") return undefined;
      return among(indexes, "deviceSoftware", (rows) =>
        rows.where((eb) =>
          operator === "contains"
            ? titleContains(eb.ref("name"), texts[0] as string, dialect)
            : isOneOf(eb.ref("name"), texts, dialect),
        ),
      );
    case "groupId":
      return among(indexes, "deviceGroupMembers", (rows) =>
        rows.where((eb) =>
          isOneOf(
            eb.ref("groupId"),
            texts.filter((id) => groups.has(id)),
            dialect,
            "uuid",
          ),
        ),
      );
    case "hostname":
      return whole.has(operator) ? withHostname(indexes, texts) : named(indexes, "hostname", operator, texts);
    case "displayName":
    case "lastUser":
      return named(indexes, field, operator, texts);
    default:
      return undefined;
  }
}

const whole = new Set(["equals", "in"]);
const within = new Set(["equals", "in", "contains", "startsWith", "endsWith"]);

type Parts = "deviceTags" | "deviceSoftware" | "deviceGroupMembers";

function among<T extends Parts>(
  { orgId, dialect }: Indexes,
  table: T,
  narrow: (rows: SelectQueryBuilder<Database, T, object>) => SelectQueryBuilder<Database, T, object>,
): IndexLookUp {
  type Any = SelectQueryBuilder<Database, "deviceTags", object>;
  let rows = narrow(all.selectFrom(table) as never) as unknown as Any;
  if (orgId !== undefined) rows = rows.where("orgId", "=", orgId);
  return lookUpOf(rows.select("deviceId as id") as Rows, dialect);
}

function withHostname({ scope, orgId, dialect }: Indexes, names: readonly string[]): IndexLookUp | undefined {
  if (!names.every(isPlain)) return undefined;
  const keys = names.map((name) => name.toLowerCase());
  const own = orgId ?? (scope.kind === "organization" ? scope.orgId : undefined);
  let rows = all.selectFrom("devices").where((eb) => isOneOf(eb.ref("hostnameKey"), keys, dialect));
  if (own !== undefined) rows = rows.where("orgId", "=", own);
  else if (scope.kind === "partner") rows = rows.where("partnerId", "=", scope.partnerId);
  return lookUpOf(rows.select("id") as never, dialect);
}

function named(
  { scope, orgId }: Indexes,
  field: NameField,
  operator: string,
  texts: readonly string[],
): IndexLookUp | undefined {
  const [text, ...others] = texts;
  if (text === undefined || others.length > 0 || !within.has(operator)) return undefined;
  const search = looseNameSearch(text, orgId === undefined ? scope : { kind: "organization", orgId }, field);
  return search && { ids: (most) => idsNamed({ ...search, most: most + 1 }) };
}
