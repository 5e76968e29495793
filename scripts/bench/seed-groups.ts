import type { Kysely } from "kysely";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { Database } from "#server/db/tables";
import { storedRule } from "#server/features/fleet/device-groups/rule";
import type { Services } from "#server/services";

const all = (...parts: readonly (readonly [string, string, unknown])[]): FilterGroup => ({
  operator: "AND",
  conditions: parts.map(([field, operator, value]) => ({ field, operator, value }) as never),
});
/** Everybody once; then common and rare tags, names, load, titles, and who was seen lately. */
function rule(at: number): FilterGroup {
  if (at === 0) return all(["osType", "in", ["windows", "macos", "linux"]]);
  const kinds = [
    all(["tags", "hasAny", [`tag-${at % 200}`]]),
    all(
      ["hostname", "startsWith", `PC-${((at * 7) % 900) + 100}`],
      ["lastSeenAt", "withinLast", { amount: 30, unit: "days" }],
    ),
    all(["metrics.cpuPercent", "greaterThan", 97]),
    all(["software.installed", "contains", `product ${1_000 + at * 7}`], ["status", "equals", "online"]),
    all(["osType", "equals", "linux"], ["daysSinceLastSeen", "lessThan", 0.1]),
  ];
  return kinds[at % kinds.length] as FilterGroup;
}

/** Dynamic groups of an organization that nobody has looked at yet; writes no notes of what they speak of. */
export async function seedGroups(
  db: Kysely<Database>,
  { clock, random }: Pick<Services, "clock" | "random">,
  orgId: string,
  count: number,
): Promise<void> {
  const now = clock.now();
  for (let at = 0; at < count; at += 1)
    await db
      .insertInto("deviceGroups")
      .values({
        ...{ id: random.uuid(), orgId, siteId: null, parentId: null },
        ...{ name: `Group ${at}`, nameKey: `group ${at}`, description: null, type: "dynamic", ...storedRule(rule(at)) },
        ...{ filterVersion: 1, lastEvaluatedAt: null, attemptedAt: null, lastEvaluationError: null },
        ...{ createdBy: null, createdAt: now, updatedAt: now },
      })
      .execute();
}
