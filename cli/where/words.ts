import {
  customKeyOf,
  type FilterField,
  fieldNamed,
  filterFields,
  isFilterField,
  typeOfCustom,
} from "#contract/core/filters/fields";
import { type FilterOperator, filterOperators, operatorSets } from "#contract/core/filters/operators";
import { suggestions } from "#contract/core/suggest";

/** How each operator is written; the first is what is printed. The API's own names are understood too. */
export const spellings: Readonly<Record<FilterOperator, readonly [string, ...string[]]>> = {
  equals: ["=", "=="],
  notEquals: ["!="],
  greaterThan: [">"],
  greaterThanOrEquals: [">="],
  lessThan: ["<"],
  lessThanOrEquals: ["<="],
  contains: ["contains"],
  notContains: ["not contains"],
  startsWith: ["starts with"],
  endsWith: ["ends with"],
  matches: ["matches"],
  in: ["in"],
  notIn: ["not in"],
  hasAny: ["any", "has any"],
  hasAll: ["all", "has all"],
  isEmpty: ["is empty"],
  isNotEmpty: ["is not empty"],
  isNull: ["is null"],
  isNotNull: ["is not null"],
  before: ["before"],
  after: ["after"],
  between: ["between"],
  withinLast: ["within", "within last"],
  notWithinLast: ["not within", "not within last"],
};

export const operators = Object.keys(spellings) as FilterOperator[];

/** Words of the longest spelling. */
export const SPELLING_WORDS = 3;

const bySpelling: ReadonlyMap<string, FilterOperator> = new Map(
  operators.flatMap((operator) => [operator.toLowerCase(), ...spellings[operator]].map((one) => [one, operator])),
);

/** The operator of these words, however they are capitalised. */
export const operatorOf = (words: string): FilterOperator | undefined => bySpelling.get(words.toLowerCase());

/** What people write that is meant otherwise. */
export const otherWords: Readonly<Record<string, string>> = {
  ...{ "<>": "!=", like: "contains", includes: "contains", has: "any", "~": "matches", "=~": "matches" },
  ...{ regex: "matches", is: "=", ":": "=", older: "not within", newer: "within", since: "after", until: "before" },
};

/** A field of the filter language; of a custom field its definition decides later. */
export type WhereField = Omit<FilterField, "type"> & {
  readonly name: string;
  readonly type: FilterField["type"] | "custom";
};

/** The field of this name, exactly as it is written. */
export function fieldOf(name: string): WhereField | undefined {
  if (isFilterField(name)) return { name, ...fieldNamed(name) };
  return customKeyOf(name) !== undefined ? { name, type: "custom", about: "value of a custom field" } : undefined;
}

const ofCustom = [...new Set<FilterOperator>(Object.values(typeOfCustom).flatMap((type) => operatorSets[type]))];

/** The operators that a field takes; of a custom field those of any type. */
export const operatorsOf = ({ type }: WhereField): readonly FilterOperator[] =>
  type === "custom" ? ofCustom : operatorSets[type];

export const fieldNames = Object.keys(filterFields);

/** What people call fields that have another name. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  ...{ organization: ["orgId"], organisation: ["orgId"], org: ["orgId"], customer: ["orgId"], tenant: ["orgId"] },
  ...{ site: ["siteId"], location: ["siteId"], group: ["groupId"], devicegroup: ["groupId"] },
  ...{ os: ["osType"], platform: ["osType"], name: ["hostname", "displayName"], host: ["hostname"] },
  ...{ device: ["hostname"], computer: ["hostname"], tag: ["tags"], role: ["deviceRole"], user: ["lastUser"] },
  ...{ ip: ["network.ipAddress", "lastSeenIp"], mac: ["network.macAddress"], serial: ["hardware.serialNumber"] },
  ...{ software: ["software.installed"], version: ["osVersion", "agentVersion"] },
};

/** Fields that may have been meant: called otherwise, with what was typed as their last part, or alike. */
export function nearFields(typed: string): string[] {
  const folded = typed.toLowerCase();
  if (Object.hasOwn(otherNames, folded)) return [...otherNames[folded]!];
  const parts = fieldNames.filter((name) => name.toLowerCase().split(".").at(-1) === folded);
  return [...new Set([...parts, ...suggestions(typed, fieldNames)])].slice(0, 3);
}

/** What an operator is followed by, as messages and completion say it. */
export const valueShapes: Readonly<Record<(typeof filterOperators)[FilterOperator], string>> = {
  scalar: "a value",
  text: "a text",
  pattern: "a regular expression",
  list: "a list: [one, another]",
  none: "nothing",
  range: "two values: 1 and 5",
  span: "a time: 7 days",
};

export const shapeOf = (operator: FilterOperator): string => valueShapes[filterOperators[operator]];
