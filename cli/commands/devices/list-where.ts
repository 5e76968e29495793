import type { Command } from "commander";
import type { FilterGroup } from "#contract/core/filters/condition";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { dryRun } from "../../generic/dry-run.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { DEFAULT_LIMIT } from "../../generic/run-list.ts";
import type { CommandSpec } from "../../manifest.ts";
import { checkFields, formatOf, printResult } from "../../output/print.ts";
import { withSpinner } from "../../output/spinner.ts";
import type { Run } from "../../register.ts";
import { addWhere } from "../../where/option.ts";
import { type ChoiceOptions, type Chosen, queryOf } from "./chosen.ts";
import { conditionsOf, matchPages, narrowed } from "./matching.ts";

interface ListSpecs {
  readonly list: CommandSpec;
  /** Lists by conditions. */
  readonly query: CommandSpec;
}

/** What lists and expressions both say. */
const shared: ReadonlySet<string> = new Set(["where", "status", "osType", "role", "search"]);

/** Lets `rmm devices list` take `--where`: the same list, of what matches an expression. */
export function addListWhere(command: Command, run: Run, specs: ListSpecs): void {
  command.addHelpText("after", help);
  addWhere(command).action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const options = command.opts<ChoiceOptions & Record<string, unknown>>();
      const { where: expression } = options;
      if (expression === undefined) return runEndpoint(context, specs.list, { args: [], options });
      const other = command.options.find((one) => !shared.has(one.attributeName()) && one.attributeName() in options);
      if (other) throw usageError(`${other.long} does not go with --where`, "Write it into the expression");
      checkFields(globals, { fields: specs.list.fields });
      await checkCredential(context, specs.query);
      const { pointing, whereFor } = await import("../../where/read-where.ts");
      const flags = conditionsOf(await queryOf(context, options), undefined);
      const where = narrowed(await whereFor(context, expression), flags);
      return pointing(context, where, () => listMatches(context, specs, where.filter));
    }),
  );
}

const help = `
With --where the list has what matches an expression, by hostname; --org, --site
and --status narrow it, --all has no limit:
  rmm devices list --where "tags any [prod] and alerts.critical = true" --all
`;

/** The first 50, `--limit N`, or `--all`. Everything is loaded before anything is printed. */
async function listMatches(context: Context, { list, query }: ListSpecs, conditions: FilterGroup): Promise<number> {
  const { globals } = context;
  const limit = globals.all ? Number.POSITIVE_INFINITY : (globals.limit ?? DEFAULT_LIMIT);
  if (globals.dryRun) return dryRun(context, query, [{ params: {}, query: {}, body: { conditions }, hasBody: true }]);
  const { devices, more } = await withSpinner(context, "Loading", async ({ say }) => {
    const found: Chosen[] = [];
    for await (const { devices: page, hasMore } of matchPages(context, conditions, { most: limit })) {
      found.push(...page);
      if (found.length >= limit) return { devices: found.slice(0, limit), more: hasMore || found.length > limit };
      say(`Loading: ${found.length}`);
    }
    return { devices: found, more: false };
  });
  await printResult(context, devices, { fields: list.fields, columns: list.columns });
  if (devices.length === 0 && formatOf(context) === "table") await context.notice("Nothing found");
  if (more) await context.notice(`${devices.length.toLocaleString("en-US")} shown; use --all`);
  return 0;
}
