import type { FilterGroup } from "#contract/core/filters/condition";
import type { Tx } from "#server/db/unit-of-work";
import { groupsNamed } from "#server/filters/seen-groups";
import { problem } from "#server/problem";
import type { HeldGroups } from "./place.ts";
import { CHAIN_MAX } from "./rules.ts";

/**
 * Refuses conditions that name what the caller does not see, or that lead back to the group itself or through too many
 * others (docs/device-groups.md, "Conditions on groups"). All groups of the organization are held.
 */
export async function refuseNamedGroups(
  tx: Tx,
  groups: HeldGroups,
  group: { readonly id: string; readonly orgId: string; readonly filter: FilterGroup },
  known: readonly string[],
): Promise<void> {
  const ids = groupsNamed(group.filter);
  const fresh = ids.filter((id) => !known.includes(id));
  const seen = new Set((await seenOf(tx, group.orgId, fresh)).map(({ id }) => id));
  const groupIds = fresh.filter((id) => !seen.has(id) && id !== group.id);
  if (groupIds.length > 0) throw problem("GROUP_NOT_IN_ORG", { details: { groupIds } });
  const graph = new Map(groups.map(({ id, filterGroupIds }) => [id, filterGroupIds]));
  graph.set(group.id, ids);
  if (longestChain(group.id, graph) > CHAIN_MAX) throw tooFar(group.filter);
}

const seenOf = async (tx: Tx, orgId: string, ids: readonly string[]) =>
  ids.length === 0
    ? []
    : tx.selectFrom("deviceGroups").select("id").where("orgId", "=", orgId).where("id", "in", ids).execute();

type Graph = ReadonlyMap<string, readonly string[]>;

/** The most groups that one leads through along a chain on which this group stands; infinite in a circle. */
export function longestChain(id: string, graph: Graph): number {
  const named = new Map([...graph].map(([from, to]) => [from, to.filter((one) => graph.has(one))]));
  const naming = new Map<string, string[]>();
  for (const [from, to] of named) for (const one of to) naming.set(one, [...(naming.get(one) ?? []), from]);
  return reach(id, named, new Map()) + reach(id, naming, new Map());
}

/** Steps of the longest way on; one that comes back is on a circle. */
function reach(id: string, edges: Graph, known: Map<string, number>): number {
  const before = known.get(id);
  if (before !== undefined) return before;
  // As long as it is being measured, whoever meets it again has gone in a circle.
  known.set(id, Number.POSITIVE_INFINITY);
  const steps = Math.max(0, ...(edges.get(id) ?? []).map((next) => 1 + reach(next, edges, known)));
  known.set(id, steps);
  return steps;
}

function tooFar(filter: FilterGroup) {
  const message = `leads back to the group, or through more than ${CHAIN_MAX} groups`;
  const errors = pathsOf(filter, "").map(({ path, operator }) => ({
    ...{ path, field: "groupId", operator, code: "FILTER_INVALID_STRUCTURE", message },
  }));
  return problem("FILTER_INVALID_STRUCTURE", { details: { errors } });
}

function pathsOf({ conditions }: FilterGroup, prefix: string): { path: string; operator: string }[] {
  return conditions.flatMap((part, at) => {
    const path = `${prefix}conditions[${at}]`;
    if ("conditions" in part) return pathsOf(part, `${path}.`);
    return part.field === "groupId" ? [{ path, operator: part.operator }] : [];
  });
}
