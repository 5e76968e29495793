import { checkFilterInTurns, codeOfErrors, type FilterError } from "#contract/core/filters/check-filter";
import { type FilterGroup, fieldsUsed } from "#contract/core/filters/condition";
import { customKeyOf } from "#contract/core/filters/fields";
import { fairTurn } from "#server/db/dialect/fair-turn";
import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import { definitionsFor } from "./definitions.ts";

/**
 * What somebody sent as a filter, or 400 with all that is wrong with it (docs/filters.md, "Errors"). Custom fields have the
 * types that definitions within reach of `db` give them, with `orgId` those of this organization's devices.
 */
export async function checkedFilter(
  db: Reader,
  value: unknown,
  { orgId }: { orgId?: string } = {},
): Promise<FilterGroup> {
  const checked = await checkFilterInTurns(value, { turn: fairTurn });
  if ("errors" in checked) throw refusal(checked.errors);
  if (![...fieldsUsed(checked.filter)].some((field) => customKeyOf(field) !== undefined)) return checked.filter;
  const definitions = await definitionsFor(db, checked.filter, orgId);
  const typed = await checkFilterInTurns(value, {
    turn: fairTurn,
    customTypes: (key) => definitions.filter(({ fieldKey }) => fieldKey === key).map(({ type }) => type),
  });
  if ("errors" in typed) throw refusal(typed.errors);
  return typed.filter;
}

const refusal = (errors: readonly FilterError[]) => problem(codeOfErrors(errors), { details: { errors } });
