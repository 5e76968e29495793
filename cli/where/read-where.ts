import { checkFilter } from "#contract/core/filters/check-filter";
import { type FilterCondition, type FilterGroup, fieldsUsed } from "#contract/core/filters/condition";
import { type CustomFieldType, customKeyOf, typeOfCustom } from "#contract/core/filters/fields";
import { didYouMean } from "#contract/core/suggest";
import { RmmError } from "#sdk/errors";
import type { Context } from "../context.ts";
import { type CliError, usageError } from "../errors/cli-error.ts";
import { readText } from "../input/read-text.ts";
import type { Shell } from "../shell.ts";
import { whereError } from "./excerpt.ts";
import { type Span, WhereFault } from "./fault.ts";
import { WHERE } from "./option.ts";
import { parseWhere, type Where } from "./parse.ts";
import { withIds } from "./resolve.ts";

/** Reads `--where`: an expression, `@file` with one, or `@-` for stdin. Wrong ones end the run before anything is sent. */
export async function readWhere(shell: Shell, given: string): Promise<Where> {
  const source = given.startsWith("@") ? await readText(shell, given.slice(1), undefined, WHERE) : given;
  try {
    return parseWhere(source);
  } catch (error) {
    throw error instanceof WhereFault ? whereError(shell, error, source, WHERE) : error;
  }
}

/** The filter of `--where`, with names looked up, and judged as the server would. */
export async function whereFor(context: Context, given: string): Promise<Where> {
  const where = await withIds(context, await readWhere(context.shell, given), WHERE);
  const checked = checkFilter(where.filter);
  if ("errors" in checked) throw atFault(context, where, checked.errors[0]) ?? usageError(`${WHERE}: no valid filter`);
  await judgeUnknownFields(context, where);
  return where;
}

const fieldsHint = "`rmm custom-fields list` shows those that there are";

/**
 * A custom field that nobody has defined is mostly a slip, and still allowed: other organizations may have it. What only
 * a definition would allow, the server refuses for its value, where the name is at fault: that is told here.
 */
async function judgeUnknownFields(context: Context, where: Where): Promise<void> {
  const keys = [...fieldsUsed(where.filter)].flatMap((field) => customKeyOf(field) ?? []);
  const known = keys.length === 0 ? undefined : await definedKeys(context);
  const unknown = known === undefined ? [] : keys.filter((one) => !known.includes(one));
  if (known === undefined || unknown.length === 0) return;
  const told = (key: string) => `there is no custom field ${key}${didYouMean(key, known)}`;
  const anyType = Object.keys(typeOfCustom) as CustomFieldType[];
  const customTypes = (key: string) => (unknown.includes(key) ? [] : anyType);
  const checked = checkFilter(where.filter, { customTypes });
  const [fault] = "errors" in checked ? checked.errors : [];
  const start = fault && where.places.get(partAt(where.filter, fault.path)!)?.start;
  if (fault && start !== undefined) {
    const at = { start, end: start + fault.field!.length };
    const message = told(customKeyOf(fault.field!)!);
    throw whereError(context.shell, new WhereFault(message, at, fieldsHint), where.source, WHERE);
  }
  for (const key of unknown) await context.notice(`Warning: ${WHERE}: ${told(key)}; ${fieldsHint}`);
}

/** Undefined where nobody can be asked: an expression is explained without a server too. */
async function definedKeys(context: Context): Promise<readonly string[] | undefined> {
  try {
    const client = await context.client();
    const all = client.customFields.list({ query: { limit: "100" } }, { signal: context.shell.signal });
    return (await all.toArray()).map(({ fieldKey }) => fieldKey);
  } catch {
    return undefined;
  }
}

interface ServerFault {
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

function atFault({ shell }: Context, where: Where, fault: ServerFault | undefined): CliError | undefined {
  const part = fault && partAt(where.filter, String(fault.path ?? ""));
  const at = part && placeOf(where, part, fault.code);
  return at && whereError(shell, new WhereFault(String(fault.message), at), where.source, WHERE);
}

function firstFault(details: unknown): ServerFault | undefined {
  const { errors } = (details ?? {}) as { errors?: unknown };
  return Array.isArray(errors) ? (errors[0] as ServerFault | undefined) : undefined;
}

/** `conditions[0].conditions[1]`. */
function partAt(root: FilterGroup, path: string): FilterGroup | FilterCondition | undefined {
  let part: FilterGroup | FilterCondition | undefined = root;
  for (const [, index] of path.matchAll(/conditions\[(\d+)\]/g))
    part = part !== undefined && "conditions" in part ? part.conditions[Number(index)] : undefined;
  return part;
}

/** Faults of a value stand at the value, others at the whole condition. */
function placeOf({ places }: Where, part: FilterGroup | FilterCondition, code: unknown): Span | undefined {
  const place = places.get(part);
  const isOfValue = code === "FILTER_TYPE_MISMATCH" || code === "FILTER_INVALID_REGEX";
  const [first, last] = [place?.values[0], place?.values.at(-1)];
  return isOfValue && first && last ? { start: first.start, end: last.end } : place;
}
