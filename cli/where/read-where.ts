import { checkFilter } from "#contract/core/filters/check-filter";
import { type FilterCondition, type FilterGroup, fieldsUsed } from "#contract/core/filters/condition";
import { customKeyOf } from "#contract/core/filters/fields";
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
  await noticeUnknownFields(context, checked.filter);
  return where;
}

/** A custom field that nobody has defined is allowed and mostly a slip: nothing is stored under it. */
async function noticeUnknownFields(context: Context, filter: FilterGroup): Promise<void> {
  const keys = [...fieldsUsed(filter)].flatMap((field) => customKeyOf(field) ?? []);
  if (keys.length === 0) return;
  const client = await context.client();
  const defined = await client.customFields
    .list({ query: { limit: "100" } }, { signal: context.shell.signal })
    .toArray()
    .catch(() => undefined);
  if (defined === undefined) return;
  const known = defined.map(({ fieldKey }) => fieldKey);
  for (const key of keys.filter((one) => !known.includes(one)))
    await context.notice(`${WHERE}: there is no custom field ${key}${didYouMean(key, known)}`);
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
