import { checkFilter } from "#contract/core/filters/check-filter";
import type { FilterGroup } from "#contract/core/filters/condition";
import { type Context, openContext } from "../../context.ts";
import { missingInput, usageError } from "../../errors/cli-error.ts";
import { fileName, readText } from "../../input/read-text.ts";
import { parseJson } from "../../input/written.ts";
import { checkFields, isForPrograms, printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, takes, valued } from "../../taken-flags.ts";
import { addWhere, type WhereOption } from "../../where/option.ts";
import { printWhere } from "../../where/print.ts";
import { whereFor } from "../../where/read-where.ts";

interface ExplainOptions extends WhereOption {
  readonly conditions?: string;
}

const fields = ["where", "conditions"];

/** `rmm filters explain`: an expression as the API takes it, or conditions as `--where` takes them. */
export const registerExplain: Register = (command, run) => {
  takes(command, ...valued, ...proving, "org")
    .description("Turn an expression into the conditions that the API takes, or conditions into an expression")
    .addHelpText("before", examples)
    .addHelpText("after", help);
  addWhere(command, " (this or --conditions is required)")
    .option(
      "--conditions <path>",
      "print the expression of conditions in a JSON file, or - for stdin (this or --where is required)",
    )
    .action(() =>
      run(async (shell, globals) => {
        checkFields(globals, { fields });
        return explain(await openContext(shell, globals), command.opts());
      }),
    );
};

const examples = `Examples:
  rmm filters explain --where 'osType = windows and tags any [prod, web]'
  rmm filters explain --where @kiosks.txt --json
  rmm filters explain --conditions conditions.json
`;
const help = `
Where --where names an organization, site or group, the server is asked for its
id. Otherwise nothing is asked, and nobody need be signed in.
A filter or group as the API gives it is conditions too.
`;

async function explain(context: Context, { where, conditions }: ExplainOptions): Promise<number> {
  if (where !== undefined && conditions !== undefined) throw usageError("Use either --where or --conditions");
  if (where !== undefined) {
    const { filter } = await whereFor(context, where);
    if (isForPrograms(context))
      await printResult(context, { where: printWhere(filter), conditions: filter }, { fields });
    else await writeTo(context.shell, "stdout", `${JSON.stringify(filter, null, 2)}\n`);
    return 0;
  }
  if (conditions === undefined) throw missingInput(["--where (or --conditions)"]);
  const filter = await conditionsIn(context, conditions);
  const text = printWhere(filter);
  if (isForPrograms(context)) await printResult(context, { where: text, conditions: filter }, { fields });
  else await writeTo(context.shell, "stdout", `${text}\n`);
  return 0;
}

/** Conditions as they are sent, or within a filter or a group as it was answered. */
async function conditionsIn({ shell }: Context, path: string): Promise<FilterGroup> {
  const value = parseJson(await readText(shell, path, undefined, "--conditions"), fileName(path));
  const { conditions, filterConditions } = (value ?? {}) as { conditions?: unknown; filterConditions?: unknown };
  const isHolder = filterConditions !== undefined || (typeof conditions === "object" && !Array.isArray(conditions));
  const checked = checkFilter(isHolder ? (filterConditions ?? conditions) : value);
  if ("filter" in checked) return checked.filter;
  const details = checked.errors.map(({ path: at, message }) => ({ path: at, message }));
  throw usageError(`${fileName(path)} holds no valid conditions`, undefined, details);
}
