import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { attributeOf, type Field } from "../generic/fields.ts";
import { WHERE } from "./option.ts";
import { pointing } from "./pointing.ts";
import { whereFor } from "./read-where.ts";

type Options = Readonly<Record<string, unknown>>;

/**
 * Calls with the conditions of `--where` in the place of the flag that takes JSON; what the server finds wrong is shown
 * where it stands in the expression.
 */
export async function withConditions<T>(
  context: Context,
  { flag }: Field,
  { where: expression, ...options }: Options,
  call: (options: Options) => Promise<T>,
): Promise<T> {
  if (options[attributeOf(flag)] !== undefined) throw usageError(`Use either ${WHERE} or --${flag}`);
  if (options["file"] !== undefined)
    throw usageError(`Use either ${WHERE} or --file`, "In the file an expression is the field where");
  const where = await whereFor(context, String(expression));
  return pointing(context, where, () => call({ ...options, [attributeOf(flag)]: JSON.stringify(where.filter) }));
}
