import type { Expression, SqlBool } from "kysely";
import { hasAnyOf, hasElementLike } from "#server/db/dialect/filter-values";
import { isFilled } from "#server/db/dialect/json";
import type { Asked } from "./compare.ts";
import type { Context } from "./context.ts";

/** Tags are never missing: a device without any has an empty list. */
export function compareTags({ eb, dialect }: Context, { operator, value }: Asked): Expression<SqlBool> {
  const tags = eb.ref("devices.tags");
  if (operator === "isEmpty") return eb.not(isFilled(tags));
  if (operator === "isNotEmpty") return isFilled(tags);
  if (operator === "contains") return hasElementLike(tags, value as string, dialect);
  const wanted = value as readonly string[];
  if (operator === "hasAny") return hasAnyOf(tags, wanted, dialect);
  return eb.and([...new Set(wanted)].map((tag) => hasAnyOf(tags, [tag], dialect)));
}
