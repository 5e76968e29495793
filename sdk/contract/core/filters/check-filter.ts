import { didYouMean } from "../suggest.ts";
import { type FilterCondition, type FilterGroup, filterCaps } from "./condition.ts";
import { type Fault, filterFaultCodes } from "./faults.ts";
import {
  type CustomFieldType,
  customKeyOf,
  type FilterField,
  fieldNamed,
  filterFields,
  isFilterField,
  takesOperator,
  typeOfCustom,
} from "./fields.ts";
import { type FilterOperator, filterOperators, operatorSets } from "./operators.ts";
import { readValue } from "./read-value.ts";

/** What is wrong at one place of a filter; `path` is `conditions[0].conditions[1]`, empty for the root. */
export interface FilterError extends Fault {
  readonly path: string;
  readonly field: string | null;
  readonly operator: string | null;
}

export type CheckedFilter = { readonly filter: FilterGroup } | { readonly errors: readonly FilterError[] };

export interface CheckOptions {
  /** Types that the definitions of a custom field have; none = it is not defined. Without this any type will do. */
  readonly customTypes?: (key: string) => readonly CustomFieldType[];
}

const ERRORS_MAX = 100;
/** A name that is quoted in an error. */
const QUOTED_MAX = 100;

/**
 * Checks what somebody sent as a filter (docs/filters.md, "Errors"). The filter that it answers has the groups and
 * conditions as they were sent, without values that their operators ignore.
 */
export function checkFilter(value: unknown, options: CheckOptions = {}): CheckedFilter {
  const steps = checking(value, options);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The same where others wait for the thread: a thousand patterns take a tenth of a second to read. `turn` comes after each part. */
export async function checkFilterInTurns(
  value: unknown,
  { turn, ...options }: CheckOptions & { readonly turn: () => Promise<void> },
): Promise<CheckedFilter> {
  const steps = checking(value, options);
  let step = steps.next();
  while (!step.done) {
    await turn();
    step = steps.next();
  }
  return step.value;
}

type Steps<R> = Generator<undefined, R, undefined>;

function* checking(value: unknown, options: CheckOptions): Steps<CheckedFilter> {
  const check = new Check(options);
  const filter = yield* check.root(value);
  if (check.errors.length > 0 || !filter) return { errors: check.errors };
  const bytes = new TextEncoder().encode(JSON.stringify(filter)).length;
  if (bytes <= filterCaps.bytes) return { filter };
  check.report("", {}, { code: "FILTER_TOO_LARGE", message: `a filter has at most ${filterCaps.bytes} bytes of JSON` });
  return { errors: check.errors };
}

/** The code of an answer with these errors: the first in the order of codes that one of them has. */
export const codeOfErrors = (errors: readonly FilterError[]): Fault["code"] =>
  filterFaultCodes.find((code) => errors.some((error) => error.code === code)) ?? "FILTER_INVALID_STRUCTURE";

const asText: FilterField = { type: "string", about: "" };

type Given = Record<string, unknown>;
const isObject = (value: unknown): value is Given =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const structure = (message: string): Fault => ({ code: "FILTER_INVALID_STRUCTURE", message });

class Check {
  readonly errors: FilterError[] = [];
  readonly #options: CheckOptions;
  #conditions = 0;
  #listValues = 0;
  #given = 0;

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  *root(value: unknown): Steps<FilterGroup | undefined> {
    if (isObject(value) && Object.hasOwn(value, "conditions")) return yield* this.#group(value, "", 1);
    this.report("", isObject(value) ? value : {}, structure("a filter is a group {operator, conditions}"));
    return undefined;
  }

  report(path: string, given: Given, fault: Fault): void {
    if (this.errors.length >= ERRORS_MAX) return;
    this.errors.push({ path, field: quoted(given["field"]), operator: quoted(given["operator"]), ...fault });
  }

  /** No deeper than filters may be, so that no depth overflows the stack. */
  *#group(given: Given, path: string, depth: number): Steps<FilterGroup | undefined> {
    if (depth > filterCaps.depth)
      return this.#refuse(path, given, {
        code: "FILTER_TOO_DEEP",
        message: `groups stand at most ${filterCaps.depth} deep in each other`,
      });
    const { operator, conditions } = given;
    const extra = Object.keys(given).find((key) => key !== "operator" && key !== "conditions");
    if (extra !== undefined)
      this.report(path, given, structure(`a group has operator and conditions, not ${quoted(extra)}`));
    if (operator !== "AND" && operator !== "OR")
      this.report(path, given, structure("the operator of a group is AND or OR"));
    if (!Array.isArray(conditions) || conditions.length === 0)
      return this.#refuse(path, given, structure("conditions is a list with at least one element"));
    const parts: (FilterGroup | FilterCondition)[] = [];
    for (const [index, part] of conditions.entries()) {
      if (this.errors.length >= ERRORS_MAX || this.#isTooLarge(path, given)) return undefined;
      const at = `${path === "" ? "" : `${path}.`}conditions[${index}]`;
      const made = yield* this.#part(part, at, depth);
      if (made) parts.push(made);
      yield;
    }
    return { operator: operator as "AND", conditions: parts };
  }

  /** Looks at no more than one beyond what a filter may have. */
  #isTooLarge(path: string, given: Given): boolean {
    this.#given += 1;
    const most = filterCaps.conditions;
    // More groups than conditions can be, but each has bytes of its own.
    if (this.#conditions < most + 1 && this.#given <= filterCaps.bytes / 10) return false;
    if (!this.errors.some(({ code }) => code === "FILTER_TOO_LARGE"))
      this.report(path, given, { code: "FILTER_TOO_LARGE", message: `a filter has at most ${most} conditions` });
    return true;
  }

  *#part(part: unknown, path: string, depth: number): Steps<FilterGroup | FilterCondition | undefined> {
    if (isObject(part) && Object.hasOwn(part, "conditions")) return yield* this.#group(part, path, depth + 1);
    if (isObject(part) && Object.hasOwn(part, "field")) return this.#condition(part, path);
    const what = "an element is a group {operator, conditions} or a condition {field, operator, value}";
    return this.#refuse(path, isObject(part) ? part : {}, structure(what));
  }

  #condition(given: Given, path: string): FilterCondition | undefined {
    this.#conditions += 1;
    if (this.#conditions > filterCaps.conditions) {
      this.#isTooLarge(path, given);
      return undefined;
    }
    const extra = Object.keys(given).find((key) => key !== "field" && key !== "operator" && key !== "value");
    if (extra !== undefined)
      this.report(path, given, structure(`a condition has field, operator and value, not ${quoted(extra)}`));
    const { field, operator, value } = given;
    if (typeof field !== "string" || typeof operator !== "string")
      return this.#refuse(path, given, structure("field and operator of a condition are texts"));
    const known = Object.hasOwn(filterOperators, operator) ? (operator as FilterOperator) : undefined;
    const fault = this.#fault(field, known ?? operator, value);
    if (fault) return this.#refuse(path, given, fault);
    return this.#made(path, given, { field, operator: known as FilterOperator, value });
  }

  #made(
    path: string,
    given: Given,
    { field, operator, value }: { field: string; operator: FilterOperator; value: unknown },
  ) {
    if (Array.isArray(value)) this.#listValues += value.length;
    if (this.#listValues > filterCaps.allListValues)
      return this.#refuse(path, given, {
        code: "FILTER_TOO_LARGE",
        message: `the lists of a filter have at most ${filterCaps.allListValues} values together`,
      });
    const isIgnored = filterOperators[operator] === "none" || value === undefined;
    return { field, operator, ...(isIgnored ? {} : { value }) } as FilterCondition;
  }

  #fault(field: string, operator: string, value: unknown): Fault | undefined {
    const key = customKeyOf(field);
    if (key === undefined && !isFilterField(field)) return unknownField(field);
    const fields = key === undefined ? [fieldNamed(field as "hostname")] : this.#customFields(key);
    const takers = fields.filter(({ type }) => takesOperator(type, operator as FilterOperator));
    // What is no operator of its type, a custom field takes as text.
    if (takers.length === 0 && key !== undefined && takesOperator("string", operator as FilterOperator))
      takers.push(asText);
    if (takers.length === 0) return notAllowed(field, operator, key === undefined ? fields : [...fields, asText]);
    let fault: Fault | undefined;
    for (const one of takers) {
      const read = readValue(one, operator as FilterOperator, value);
      if ("value" in read) return undefined;
      fault ??= read;
    }
    return fault;
  }

  /** What a custom field may be. */
  #customFields(key: string): FilterField[] {
    const types = this.#options.customTypes?.(key) ?? (Object.keys(typeOfCustom) as CustomFieldType[]);
    return [...new Set(types.map((type) => typeOfCustom[type]))].map((type) => ({ type, about: "" }));
  }

  #refuse(path: string, given: Given, fault: Fault): undefined {
    this.report(path, given, fault);
    return undefined;
  }
}

function unknownField(field: string): Fault {
  const custom = field.startsWith("custom.") ? " (the key of a custom field has a to z, 0 to 9 and _)" : "";
  const near = didYouMean(field.slice(0, QUOTED_MAX), Object.keys(filterFields));
  return { code: "FILTER_UNKNOWN_FIELD", message: `there is no field ${quoted(field)}${custom || near}` };
}

function notAllowed(field: string, operator: string, fields: readonly FilterField[]): Fault {
  const allowed = [...new Set(fields.flatMap(({ type }) => operatorSets[type] as readonly string[]))];
  const near = didYouMean(operator.slice(0, QUOTED_MAX), allowed);
  return {
    code: "FILTER_OPERATOR_NOT_ALLOWED",
    message: `${field} does not take ${quoted(operator)}${near}; it takes ${allowed.join(", ")}`,
  };
}

const quoted = (value: unknown): string | null =>
  typeof value !== "string"
    ? null
    : [...value].slice(0, QUOTED_MAX).join("").toWellFormed().replaceAll("\u0000", "\ufffd");
