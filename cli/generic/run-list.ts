import type { Page } from "#sdk/paginate";
import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import { formatOf, printResult, type View } from "../output/print.ts";
import { withSpinner } from "../output/spinner.ts";
import type { Draft } from "./invocation.ts";
import { clientFor, sendList } from "./send.ts";

export const DEFAULT_LIMIT = 50;
const LARGEST_PAGE = { page: 100, cursor: 1000, whole: 100 };

/** Prints a list: the first 50, `--limit N`, or `--all`. Everything is loaded before anything is printed. */
export async function runList(context: Context, spec: CommandSpec, draft: Draft, view?: View): Promise<number> {
  const { globals } = context;
  const limit = globals.all ? Number.POSITIVE_INFINITY : (globals.limit ?? DEFAULT_LIMIT);
  const onePage = draft.query["page"] !== undefined && !globals.all;
  const query = { ...draft.query, ...pagingOf(spec, limit, draft.query) };
  const client = await clientFor(context, spec);
  const { first, items } = await withSpinner(context, "Loading", async ({ say }) => {
    const page = await sendList(client, context, spec, { ...draft, query });
    if (onePage) return { first: page, items: page.items.slice(0, limit) };
    return { first: page, items: await collect(page, limit, say) };
  });
  await printResult(context, items, { fields: spec.fields, columns: spec.columns, view });
  await sayRest(context, first, items.length, onePage);
  return 0;
}

/** The page size, and a count if the list would be truncated without one. */
function pagingOf({ query, paging }: CommandSpec, limit: number, given: Draft["query"]): Draft["query"] {
  const field = (name: string) => query.find((one) => one.name === name);
  const takes = (name: string) => field(name) !== undefined;
  const usual = LARGEST_PAGE[given["page"] === undefined ? (paging?.kind ?? "whole") : "page"];
  const largest = Math.min(usual, field("limit")?.maximum ?? usual);
  const counted = limit !== Number.POSITIVE_INFINITY && takes("includeTotal") && given["page"] === undefined;
  return {
    ...(takes("limit") ? { limit: Math.min(limit, largest) } : {}),
    ...(counted ? { includeTotal: given["includeTotal"] ?? true } : {}),
  };
}

/** All pages, or as many as the limit needs. Throws if one fails. */
async function collect(first: Page<unknown>, limit: number, say: (text: string) => void): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const page of first.pages()) {
    items.push(...page.items.slice(0, limit - items.length));
    if (items.length >= limit) break;
    say(`Loading: ${items.length}${first.total === undefined ? "" : ` of ${first.total}`}`);
  }
  return items;
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
