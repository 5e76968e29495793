import type { FilterOperator } from "#contract/core/filters/operators";
import { suggestions } from "#contract/core/suggest";
import type { Cursor } from "./cursor.ts";
import { shown, WhereFault } from "./fault.ts";
import type { Token } from "./tokens.ts";
import { operatorOf, operatorsOf, otherWords, SPELLING_WORDS, spellings, type WhereField } from "./words.ts";

/** The longest spelling that stands here. */
export function operatorAt(cursor: Cursor, field: WhereField): FilterOperator {
  const first = cursor.next();
  const ahead = Array.from({ length: SPELLING_WORDS }, (_, at) => cursor.next(at));
  const ends = ahead.findIndex(({ kind }) => kind !== "word");
  const usable = ends === -1 ? ahead : ahead.slice(0, Math.max(1, ends));
  for (let count = usable.length; count > 0; count--) {
    const said = usable.slice(0, count);
    const operator = said.some(({ kind }) => kind === "text") ? undefined : operatorOf(textsOf(said));
    if (operator === undefined) continue;
    const last = said.at(-1)!;
    cursor.take(count);
    if (operatorsOf(field).includes(operator)) return operator;
    const at = { start: first.start, end: last.end };
    throw new WhereFault(`${field.name} takes no ${textsOf(said)}${insteadOf(field, operator)}`, at, allowedOf(field));
  }
  throw unknownOperator(field, first, usable);
}

const textsOf = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join(" ");

/** What says the same of a field of another kind. */
const relatives: Partial<Record<FilterOperator, readonly FilterOperator[]>> = {
  equals: ["hasAny", "contains"],
  notEquals: ["notContains"],
  greaterThan: ["after"],
  greaterThanOrEquals: ["after"],
  lessThan: ["before"],
  lessThanOrEquals: ["before"],
  after: ["greaterThan"],
  before: ["lessThan"],
  in: ["hasAny", "equals"],
  hasAny: ["in"],
  hasAll: ["in"],
  isEmpty: ["isNull"],
  isNotEmpty: ["isNotNull"],
  isNull: ["isEmpty"],
  isNotNull: ["isNotEmpty"],
  matches: ["contains"],
  startsWith: ["contains"],
  endsWith: ["contains"],
  withinLast: ["lessThan"],
  notWithinLast: ["greaterThan"],
};

function insteadOf(field: WhereField, operator: FilterOperator): string {
  const near = relatives[operator]?.find((one) => operatorsOf(field).includes(one));
  return near === undefined ? "" : ` (did you mean ${spellings[near][0]}?)`;
}

const allowedOf = (field: WhereField): string =>
  `${field.name} takes ${operatorsOf(field)
    .map((one) => spellings[one][0])
    .join(", ")}`;

function unknownOperator(field: WhereField, first: Token, usable: readonly Token[]): WhereFault {
  if (first.kind === "end") return new WhereFault(`${field.name} lacks an operator`, first, allowedOf(field));
  if (first.kind === "text") return new WhereFault(`Before this value an operator is missing`, first, allowedOf(field));
  const allowed = operatorsOf(field).map((one) => spellings[one][0]);
  const known = Object.hasOwn(otherWords, first.text.toLowerCase()) ? otherWords[first.text.toLowerCase()] : undefined;
  const near = nearOperators(field, textsOf(usable.slice(0, 2)), first.text);
  const meant = known !== undefined && allowed.includes(known) ? [known] : near;
  const close = meant.length === 0 ? "" : ` (did you mean ${meant.join(" or ")}?)`;
  return new WhereFault(`There is no operator ${shown(first.text)}${close}`, first, allowedOf(field));
}

/** Those of the field that look like the two words here, or the first; an API's own name stands for its spelling. */
function nearOperators(field: WhereField, ...typed: string[]): string[] {
  const names = new Map(
    operatorsOf(field).flatMap((one) => [one, ...spellings[one]].map((name) => [name, one] as const)),
  );
  const all = [...names.keys()];
  const found = typed.map((one) => suggestions(one.slice(0, 60), all)).find((some) => some.length > 0) ?? [];
  return [...new Set(found.map((name) => spellings[names.get(name)!][0]))];
}
