import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import type { FilterOperator } from "#contract/core/filters/operators";
import { RmmError } from "#sdk/errors";
import type { Context } from "../context.ts";
import type { CliError } from "../errors/cli-error.ts";
import { whereError } from "./excerpt.ts";
import { type Span, WhereFault } from "./fault.ts";
import type { Where } from "./parse.ts";
import { spellings } from "./words.ts";

interface FilterFault {
  readonly path?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
}

/** Calls with the filter of an expression: what the server finds wrong is shown where it stands in the expression. */
export async function pointing<T>(context: Context, where: Where, call: () => PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const ofFilter = error instanceof RmmError && error.code.startsWith("FILTER_");
    throw (ofFilter && atFault(context, where, firstFault(error.details))) || error;
  }
}

/** The error of a fault of the filter; undefined where its place in the expression is unknown. */
export function atFault({ shell }: Context, where: Where, fault: FilterFault | undefined): CliError | undefined {
  const part = fault && partAt(where.filter, String(fault.path ?? ""));
  const at = part && placeOf(where, part, fault.code);
  return at && whereError(shell, faultOf(fault, at), where);
}

function firstFault(details: unknown): FilterFault | undefined {
  const { errors } = (details ?? {}) as { errors?: unknown };
  return Array.isArray(errors) ? (errors[0] as FilterFault | undefined) : undefined;
}

/** `conditions[0].conditions[1]`. */
export function partAt(root: FilterGroup, path: string): FilterGroup | FilterCondition | undefined {
  let part: FilterGroup | FilterCondition | undefined = root;
  for (const [, index] of path.matchAll(/conditions\[(\d+)\]/g))
    part = part !== undefined && "conditions" in part ? part.conditions[Number(index)] : undefined;
  return part;
}

/** Faults of an operator and of a value stand there, others at the whole condition. */
function placeOf({ places }: Where, part: FilterGroup | FilterCondition, code: unknown): Span | undefined {
  const place = places.get(part);
  if (code === "FILTER_OPERATOR_NOT_ALLOWED") return place?.operator ?? place;
  const isOfValue = code === "FILTER_TYPE_MISMATCH" || code === "FILTER_INVALID_REGEX";
  const [first, last] = [place?.values[0], place?.values.at(-1)];
  return isOfValue && first && last ? { start: first.start, end: last.end } : place;
}

const notTaken = /^(\S+) does not take (\w+)(?: \(.*\))?; it takes ([\w, ]+)$/;

/** What an operator is called in an expression; what is none stays as it is. */
const spelled = (name: string): string =>
  Object.hasOwn(spellings, name) ? spellings[name as FilterOperator][0] : name;

/** In the words of expressions: of operators the API says its own names. */
function faultOf({ code, message }: FilterFault, at: Span): WhereFault {
  const said = String(message);
  const [, field, operator, allowed] = (code === "FILTER_OPERATOR_NOT_ALLOWED" && notTaken.exec(said)) || [];
  if (field === undefined || operator === undefined || allowed === undefined) return new WhereFault(said, at);
  const others = allowed.split(", ").map(spelled).join(", ");
  return new WhereFault(`${field} takes no ${spelled(operator)}`, at, `${field} takes ${others}`);
}
