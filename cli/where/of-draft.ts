import { filterFieldOf } from "../generic/filter-field.ts";
import { type Draft, type Invocation, withValue } from "../generic/invocation.ts";
import { organizationOf } from "../generic/refs-of.ts";
import { judged } from "./read-where.ts";

/** The request of an entry that has an expression, with its conditions: names in it are of the organization of the entry. */
export async function withFilter({ context, spec, names }: Invocation, draft: Draft): Promise<Draft> {
  if (draft.where === undefined) return draft;
  const where = await judged(context, draft.where, { names, org: organizationOf(spec, draft) });
  return { ...withValue(draft, "body", filterFieldOf(spec)!.spec.name, where.filter), where };
}
