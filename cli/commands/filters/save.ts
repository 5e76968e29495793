import { type Context, openContext } from "../../context.ts";
import { CliError, missingInput } from "../../errors/cli-error.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { sampleWhere } from "../../generic/filter-field.ts";
import { sameName } from "../../generic/name-errors.ts";
import { namesOf } from "../../generic/names.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { Register } from "../../register.ts";
import { proving, shaped, takes } from "../../taken-flags.ts";
import { addWhere } from "../../where/option.ts";
import { readWhere } from "../../where/read-where.ts";

/** `rmm saved-filters save`: an expression under a name; `--replace` changes the one that has it. */
export const registerSave: Register = async (command, run) => {
  const specs = await commandsOf("saved-filters");
  const [create, update] = ["create", "update"].map((verb) => specs.find(({ name }) => name === verb)!);
  takes(command, ...shaped, ...proving, "org", "dry-run", "idempotency-key")
    .description("Save an expression as a filter under a name")
    .argument("[name]", "what it is called")
    .usage("<name> [flags]")
    .option("--description <text>", "what it is for")
    .option("--replace", "change the filter of that name, where there is one")
    .addHelpText("before", examples)
    .addHelpText("after", help);
  addWhere(command, " (required)").action((name: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const { replace, ...options } = command.opts<Record<string, unknown>>();
      if (name === undefined || options["where"] === undefined)
        throw missingInput(
          [...(name === undefined ? ["<name>"] : []), ...(options["where"] === undefined ? ["--where"] : [])],
          `Such as: rmm filters save Web --where '${sampleWhere}'`,
        );
      await checkCredential(context, create!);
      // What is wrong with the expression is told before the server is asked for anything.
      await readWhere(shell, String(options["where"]));
      const there = await idOfNamed(context, name);
      if (there === undefined) return runEndpoint(context, create!, { args: [], options: { ...options, name } });
      if (replace !== true) throw exists(name, there);
      return runEndpoint(context, update!, { args: [there], options });
    }),
  );
};

const examples = `Examples:
  rmm filters save Kiosks --where "tags any [kiosk]" --org contoso-dental
  rmm filters save Kiosks --where @kiosks.txt --replace
`;
const help = `
Dynamic groups and deployments that copied its conditions keep theirs.

Permission: devices:write
Credential: user
MFA:        not needed
Audit:      filter.create, filter.update
`;

async function idOfNamed(context: Context, name: string): Promise<string | undefined> {
  const org = context.settings.org.value || undefined;
  const orgId = org === undefined ? undefined : await namesOf(context).orgId(org);
  const client = await context.client();
  const query = { search: name.slice(0, 100), ...(orgId !== undefined && { orgId }) };
  const rows = await client.savedFilters.list({ query }, { signal: context.shell.signal }).toArray();
  return rows.find((row) => sameName(row.name, name))?.id;
}

const exists = (name: string, id: string): CliError =>
  new CliError(`There is a filter ${name} already: ${id}`, {
    exit: "conflict",
    code: "FILTER_EXISTS",
    hint: "--replace gives it this expression",
  });
