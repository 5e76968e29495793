import { type FilterCondition, filterCaps } from "#contract/core/filters/condition";
import { type Cursor, isWord } from "./cursor.ts";
import { shown, WhereFault } from "./fault.ts";
import { operatorAt } from "./operator.ts";
import type { Token } from "./tokens.ts";
import { valueAt } from "./value.ts";
import { fieldOf, nearFields, type WhereField } from "./words.ts";

/** Reads `field operator value`. */
export function conditionAt(cursor: Cursor, start: Token): FilterCondition {
  const field = fieldAt(cursor);
  const from = cursor.next().start;
  const operator = operatorAt(cursor, field);
  const said = { start: from, end: cursor.before()!.end };
  const first = cursor.next();
  cursor.counts.conditions += 1;
  if (cursor.counts.conditions > filterCaps.conditions)
    throw new WhereFault(`A filter has at most ${filterCaps.conditions} conditions`, start);
  const values: Token[] = [];
  const value = valueAt(cursor, field, operator, values);
  const condition: FilterCondition = { field: field.name, operator, ...(value === undefined ? {} : { value }) };
  const end = (cursor.before() ?? first).end;
  cursor.places.set(condition, { start: start.start, end, operator: said, values });
  return condition;
}

const fieldsHint = "rmm filters fields lists the fields with their operators";

function fieldAt(cursor: Cursor): WhereField {
  const token = cursor.take();
  if (token.kind === "end") throw new WhereFault("A condition is missing at the end", token, "status = offline");
  if (token.kind !== "word" || isWord(token, "and") || isWord(token, "or"))
    throw new WhereFault(
      `A condition begins with the name of a field, not with ${shown(token.text)}`,
      token,
      fieldsHint,
    );
  const field = fieldOf(token.text);
  if (field !== undefined) return field;
  if (token.text.startsWith("custom."))
    throw new WhereFault(
      `${shown(token.text)} is no key of a custom field`,
      token,
      "Small letters, digits and _: custom.rack_unit",
    );
  const near = nearFields(token.text.slice(0, 60));
  const close = near.length === 0 ? "" : ` (did you mean ${near.join(" or ")}?)`;
  throw new WhereFault(`There is no field ${shown(token.text)}${close}`, token, fieldsHint);
}
