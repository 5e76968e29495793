import { type FilterCondition, type FilterScalar, type FilterSpan, filterCaps } from "#contract/core/filters/condition";
import { type FilterOperator, filterOperators, spanUnits } from "#contract/core/filters/operators";
import { didYouMean } from "#contract/core/suggest";
import { type Cursor, isMark, isWord, takeMark, takeWord } from "./cursor.ts";
import { shown, WhereFault } from "./fault.ts";
import { scalarOf, textOf } from "./scalar.ts";
import type { Token } from "./tokens.ts";
import { operatorsOf, shapeOf, spellings, type WhereField } from "./words.ts";

type Value = NonNullable<FilterCondition["value"]>;

/** Reads what the operator is followed by; `values` gets its tokens. */
export function valueAt(
  cursor: Cursor,
  field: WhereField,
  operator: FilterOperator,
  values: Token[],
): Value | undefined {
  const one = (): Token => {
    const token = valueToken(cursor, field, operator);
    values.push(token);
    return token;
  };
  switch (filterOperators[operator]) {
    case "none":
      return undefined;
    case "scalar":
      return scalarOf(field, one());
    case "text":
      return textOf(one());
    case "pattern":
      return textOf(one(), filterCaps.patternLength);
    case "list":
      return listAt(cursor, field, operator, one);
    case "range":
      return rangeAt(cursor, field, one);
    case "span":
      return spanAt(cursor, one);
  }
}

/** A word or a text; `and` and `or` alone are a value that was forgotten. */
function valueToken(cursor: Cursor, field: WhereField, operator: FilterOperator): Token {
  const token = cursor.next();
  const joins = isWord(token, "and") || isWord(token, "or");
  if (!joins && (token.kind === "word" || token.kind === "text")) return cursor.take();
  const meant = joins ? `Where ${token.text} is the value put it in quotes: '${token.text}'` : undefined;
  const list = isMark(token, "[") && operatorsOf(field).find((one) => filterOperators[one] === "list");
  const hint = list ? `A list goes with ${spellings[list][0]}: ${field.name} ${spellings[list][0]} […]` : meant;
  throw new WhereFault(`${field.name} ${spellings[operator][0]} takes ${shapeOf(operator)}`, token, hint);
}

function listAt(cursor: Cursor, field: WhereField, operator: FilterOperator, one: () => Token): string[] {
  const said = spellings[operator][0];
  const open = cursor.next();
  if (!takeMark(cursor, "[")) {
    const example = open.kind === "word" || open.kind === "text" ? `${shown(open.text)}, …` : "one, another";
    throw new WhereFault(`${said} takes a list in brackets`, open, `${field.name} ${said} [${example}]`);
  }
  const list: string[] = [];
  while (!isMark(cursor.next(), "]")) {
    const token = one();
    list.push(String(field.type === "custom" ? textOf(token) : scalarOf(field, token)));
    cursor.counts.listValues += 1;
    if (list.length > filterCaps.listValues)
      throw new WhereFault(`A list has at most ${filterCaps.listValues} values`, token);
    if (cursor.counts.listValues > filterCaps.allListValues)
      throw new WhereFault(`The lists of a filter have at most ${filterCaps.allListValues} values together`, token);
    if (!takeMark(cursor, ",")) break;
  }
  const close = cursor.next();
  if (close.kind === "end") throw new WhereFault("This list is not closed", open, "It lacks a ]");
  if (!takeMark(cursor, "]")) throw new WhereFault("Between the values of a list stands a comma", close);
  if (list.length === 0 && (operator === "notIn" || operator === "hasAll"))
    throw new WhereFault(`${said} takes at least one value`, open);
  return list;
}

function rangeAt(cursor: Cursor, field: WhereField, one: () => Token): { from: string | number; to: string | number } {
  const start = one();
  const from = scalarOf(field, start) as FilterScalar;
  if (!takeWord(cursor, "and"))
    throw new WhereFault("between takes two values", cursor.next(), `${field.name} between ${shown(start.text)} and …`);
  const end = one();
  const to = scalarOf(field, end) as FilterScalar;
  for (const [value, at] of [[from, start] as const, [to, end] as const])
    if (typeof value === "boolean") throw new WhereFault("between takes numbers, or times", at);
  const ends = { from: from as string | number, to: to as string | number };
  if (field.type === "number" && Number(from) > Number(to))
    throw new WhereFault(`${shown(start.text)} is more than ${shown(end.text)}`, start, "The smaller one stands first");
  return ends;
}

const AMOUNT_MAX = 10_000;

/** `7 days`. */
function spanAt(cursor: Cursor, one: () => Token): FilterSpan {
  const amount = one();
  const example = "A number and a unit: 7 days";
  if (!/^[1-9]\d{0,4}$/.test(amount.text) || Number(amount.text) > AMOUNT_MAX)
    throw new WhereFault(`within takes a whole number from 1 to 10,000, not ${shown(amount.text)}`, amount, example);
  const unit = cursor.next();
  const units = `Units: ${spanUnits.join(", ")}`;
  if (unit.kind !== "word") throw new WhereFault("The unit of the time is missing", unit, units);
  const folded = unit.text.toLowerCase();
  const known = spanUnits.find((name) => name === folded || name === `${folded}s`);
  if (known === undefined)
    throw new WhereFault(
      `There is no unit ${shown(unit.text)}${didYouMean(unit.text.slice(0, 60), spanUnits)}`,
      unit,
      units,
    );
  cursor.take();
  return { amount: Number(amount.text), unit: known };
}
