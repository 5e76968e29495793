import { conditionsOf, type FilterGroup } from "#contract/core/filters/condition";
import { chunks } from "#server/db/chunks";
import type { Reader } from "#server/db/unit-of-work";

/** The groups that a filter names and that `db` reaches: of others nobody is told who is in them (docs/filters.md, "Scope"). */
export async function seenGroups(db: Reader, filter: FilterGroup): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (const ids of chunks(groupsNamed(filter))) {
    const rows = await db.selectFrom("deviceGroups").select("id").where("id", "in", ids).execute();
    for (const { id } of rows) seen.add(id);
  }
  return seen;
}

/** Groups that the conditions of a filter name, each once. */
export function groupsNamed(filter: FilterGroup): string[] {
  const values = [...conditionsOf(filter)]
    .filter(({ field }) => field === "groupId")
    .flatMap(({ value }) => (Array.isArray(value) ? value : [String(value)]));
  return [...new Set(values.map((id) => id.toLowerCase()))];
}
