import type { Page } from "#sdk/paginate";
import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import { defaultColumns } from "../output/default-columns.ts";
import { formatOf, printResult } from "../output/print.ts";
import type { Draft } from "./draft.ts";
import { clientFor, sendList } from "./send.ts";

export const DEFAULT_LIMIT = 50;
const LARGEST_PAGE = 100;

/** Prints a list: the first 50, `--limit N`, or `--all`. Everything is there before anything is printed. */
export async function runList(context: Context, spec: CommandSpec, draft: Draft): Promise<number> {
  const { globals } = context;
  const limit = globals.all ? Number.POSITIVE_INFINITY : (globals.limit ?? DEFAULT_LIMIT);
  const onePage = draft.query["page"] !== undefined && !globals.all;
  const sized = spec.query.some(({ name }) => name === "limit");
  const query = sized ? { ...draft.query, limit: Math.min(limit, LARGEST_PAGE) } : draft.query;
  const first = await sendList(await clientFor(context, spec), context, spec, { ...draft, query });
  const items = onePage ? first.items.slice(0, limit) : await first.toArray({ limit });
  await printResult(context, items, { fields: spec.fields, columns: defaultColumns(spec.noun, spec.fields) });
  await sayRest(context, first, items.length, onePage);
  return 0;
}

async function sayRest(context: Context, first: Page<unknown>, shown: number, onePage: boolean): Promise<void> {
  if (shown === 0 && formatOf(context) === "table") return context.notice("Nothing found");
  const total = first.total;
  const more = total === undefined ? first.hasNext || shown < first.items.length : shown < total;
  if (!more || context.globals.all || onePage) return;
  const counted = (count: number) => count.toLocaleString("en-US");
  const of = total === undefined ? `${counted(shown)} shown` : `${counted(shown)} of ${counted(total)}`;
  await context.notice(`${of}; use --all`);
}
