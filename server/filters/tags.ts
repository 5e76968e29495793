import type { Expression, SqlBool } from "kysely";
import { hasText, isOneOf } from "#server/db/dialect/filter-values";
import { isFilled } from "#server/db/dialect/json";
import { hasItemWith } from "#server/db/dialect/json-values";
import type { Asked } from "./compare.ts";
import { type Context, hasRow } from "./context.ts";

/** Tags are never missing: a device without any has an empty list. */
export function compareTags(at: Context, { operator, value }: Asked): Expression<SqlBool> {
  const { eb, dialect } = at;
  if (operator === "isEmpty") return eb.not(isFilled(eb.ref("devices.tags")));
  if (operator === "isNotEmpty") return isFilled(eb.ref("devices.tags"));
  const isOne = (tags: readonly string[]) =>
    hasRow(at, "deviceTags", (column) => [isOneOf(column("tag"), tags, dialect)]);
  // A list is read as soon as found among the rows of all tags.
  if (operator === "contains" && dialect === "sqlite") return hasItemWith(eb.ref("devices.tags"), value as string);
  if (operator === "contains")
    return hasRow(at, "deviceTags", (column) => [hasText(column("tag"), value as string, "anywhere", { dialect })]);
  const wanted = value as readonly string[];
  return operator === "hasAny" ? isOne(wanted) : eb.and([...new Set(wanted)].map((tag) => isOne([tag])));
}
