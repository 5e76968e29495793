import { checkFilter } from "#contract/core/filters/check-filter";
import { fieldsUsed } from "#contract/core/filters/condition";
import { type CustomFieldType, customKeyOf, typeOfCustom } from "#contract/core/filters/fields";
import { didYouMean } from "#contract/core/suggest";
import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { readText } from "../input/read-text.ts";
import type { Shell } from "../shell.ts";
import { whereError } from "./excerpt.ts";
import { WhereFault } from "./fault.ts";
import { WHERE } from "./option.ts";
import { parseWhere, type Where } from "./parse.ts";
import { atFault, partAt } from "./pointing.ts";
import { type LookUp, withIds } from "./resolve.ts";

/** Reads `--where`: an expression, `@file` with one, or `@-` for stdin. Wrong ones end the run before anything is sent. */
export async function readWhere(shell: Shell, given: string): Promise<Where> {
  const source = given.startsWith("@") ? await readText(shell, given.slice(1), undefined, WHERE) : given;
  return whereIn(shell, source, WHERE);
}

/** Reads an expression; `name` says where it stands. */
export function whereIn(shell: Shell, source: string, name: string): Where {
  try {
    return { ...parseWhere(source), name };
  } catch (error) {
    throw error instanceof WhereFault ? whereError(shell, error, { source, name }) : error;
  }
}

/** The filter of `--where`, with names looked up, and judged as the server would. */
export const whereFor = async (context: Context, given: string): Promise<Where> =>
  judged(context, await readWhere(context.shell, given));

/** The same of an expression that was read. */
export async function judged(context: Context, read: Where, lookUp?: LookUp): Promise<Where> {
  const where = await withIds(context, read, lookUp);
  const checked = checkFilter(where.filter);
  if ("errors" in checked)
    throw atFault(context, where, checked.errors[0]) ?? usageError(`${where.name ?? WHERE}: no valid filter`);
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
    throw whereError(context.shell, new WhereFault(message, at, fieldsHint), where);
  }
  for (const key of unknown) await context.notice(`Warning: ${where.name ?? WHERE}: ${told(key)}; ${fieldsHint}`);
}

/** Asked for once, however many expressions a file has. */
const keysOf = new WeakMap<Context, Promise<readonly string[] | undefined>>();

function definedKeys(context: Context): Promise<readonly string[] | undefined> {
  const known = keysOf.get(context) ?? listedKeys(context);
  keysOf.set(context, known);
  return known;
}

/** Undefined where nobody can be asked: an expression is explained without a server too. */
async function listedKeys(context: Context): Promise<readonly string[] | undefined> {
  try {
    const client = await context.client();
    const all = client.customFields.list({ query: { limit: "100" } }, { signal: context.shell.signal });
    return (await all.toArray()).map(({ fieldKey }) => fieldKey);
  } catch {
    return undefined;
  }
}
