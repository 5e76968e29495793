import type { Command } from "commander";
import type { FilterGroup } from "#contract/core/filters/condition";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { dryRun } from "../../generic/dry-run.ts";
import { idByName } from "../../generic/named-rows.ts";
import { isId, namesOf } from "../../generic/names.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { DEFAULT_LIMIT } from "../../generic/run-list.ts";
import type { CommandSpec } from "../../manifest.ts";
import { checkFields, formatOf, printResult } from "../../output/print.ts";
import { withSpinner } from "../../output/spinner.ts";
import type { Run } from "../../register.ts";
import { addWhere } from "../../where/option.ts";
import type { Where } from "../../where/parse.ts";
import { type ChoiceOptions, type Chosen, queryOf } from "./chosen.ts";
import { conditionsOf, matchPages, narrowed } from "./matching.ts";

interface ListSpecs {
  readonly list: CommandSpec;
  /** Lists by conditions. */
  readonly query: CommandSpec;
}

/** What lists and expressions both say. */
const shared: ReadonlySet<string> = new Set(["where", "filter", "status", "osType", "role", "search"]);

/** Lets `rmm devices list` take `--where`: the same list, of what matches an expression. */
export function addListWhere(command: Command, run: Run, specs: ListSpecs): void {
  command.addHelpText("after", help);
  addWhere(command)
    .option("--filter <filter>", "those of a saved filter, by its name or id")
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const options = command.opts<ChoiceOptions & { readonly filter?: string } & Record<string, unknown>>();
        const { where: expression, filter: saved } = options;
        if (expression === undefined && saved === undefined)
          return runEndpoint(context, specs.list, { args: [], options });
        if (expression !== undefined && saved !== undefined) throw usageError("Use either --where or --filter");
        const other = command.options.find((one) => !shared.has(one.attributeName()) && one.attributeName() in options);
        const chosenBy = saved === undefined ? "--where" : "--filter";
        if (other) throw usageError(`${other.long} does not go with ${chosenBy}`, "Write it into the expression");
        checkFields(globals, { fields: specs.list.fields });
        await checkCredential(context, specs.query);
        const { whereFor } = await import("../../where/read-where.ts");
        const { pointing } = await import("../../where/pointing.ts");
        const flags = conditionsOf(await queryOf(context, options), undefined);
        const own =
          saved === undefined ? await whereFor(context, expression as string) : await savedFilter(context, saved);
        const where = narrowed(own, flags);
        return pointing(context, where, () => listMatches(context, specs, where.filter));
      }),
    );
}

const help = `
With --where the list has what matches an expression, with --filter what a saved
filter matches, by hostname; --org, --site and --status narrow it:
  rmm devices list --where "tags any [prod] and alerts.critical = true" --all
  rmm devices list --filter "Windows servers" --org contoso-dental
`;

/** What is saved under this name; `--org` tells filters of one name apart, and narrows the list all the same. */
async function savedFilter(context: Context, called: string): Promise<Where> {
  const org = context.settings.org.value || undefined;
  const orgId = org === undefined || isId(called) ? undefined : await namesOf(context).orgId(org);
  const none = { orgId, partnerId: undefined, holderId: undefined };
  const id = isId(called) ? called : await idByName(context, "saved-filter", called, none);
  const client = await context.client();
  const { conditions } = await client.savedFilters.get({ params: { id } }, { signal: context.shell.signal });
  return { source: "", filter: conditions as unknown as FilterGroup, places: new Map() };
}

/** The first 50, `--limit N`, or `--all`. Everything is loaded before anything is printed. */
async function listMatches(context: Context, { list, query }: ListSpecs, conditions: FilterGroup): Promise<number> {
  const { globals } = context;
  const limit = globals.all ? Number.POSITIVE_INFINITY : (globals.limit ?? DEFAULT_LIMIT);
  if (globals.dryRun) return dryRun(context, query, [{ params: {}, query: {}, body: { conditions }, hasBody: true }]);
  const asked = { most: limit, ...(globals.all ? {} : { total: true as const }) };
  const { devices, more, total } = await withSpinner(context, "Loading", async ({ say }) => {
    const found: Chosen[] = [];
    let all: number | undefined;
    for await (const { devices: page, hasMore, total } of matchPages(context, conditions, asked)) {
      found.push(...page);
      all ??= total;
      if (found.length >= limit)
        return { devices: found.slice(0, limit), more: hasMore || found.length > limit, total: all };
      say(`Loading: ${found.length}`);
    }
    return { devices: found, more: false, total: all };
  });
  await printResult(context, devices, { fields: list.fields, columns: list.columns });
  if (devices.length === 0 && formatOf(context) === "table") await context.notice("Nothing found");
  if (more) await context.notice(`${moreText(devices.length, total)}; use --all`);
  return 0;
}

/** An older server does not count. */
function moreText(shown: number, total: number | undefined): string {
  const counted = (count: number) => count.toLocaleString("en-US");
  return total === undefined ? `${counted(shown)} shown` : `${counted(shown)} of ${counted(total)}`;
}
