import { isTimeZone, zonesLike } from "#contract/core/time-zone";
import { collect } from "../../collect.ts";
import { type Context, openContext } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { exitOfItems } from "../../errors/exit-of-items.ts";
import { fileName, readBytes } from "../../input/read-text.ts";
import { escapeControls } from "../../output/escape.ts";
import { formatOf, isForPrograms } from "../../output/print.ts";
import { type Imported, type ImportOptions, importCustomers } from "../../provisioning/import/import-customers.ts";
import { targetNames } from "../../provisioning/import/targets.ts";
import { located } from "../../provisioning/load-file.ts";
import { readModel } from "../../provisioning/read-model.ts";
import { toYaml } from "../../provisioning/to-yaml.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { takes } from "../../taken-flags.ts";
import { writeOutput } from "./write-output.ts";

interface Options {
  map?: string[];
  mapValue?: string[];
  guess: boolean;
  delimiter?: string;
  encoding?: string;
  dates?: string;
  timezone?: string;
  output?: string;
}

/** `rmm import customers.csv`: a provisioning file from what a PSA tool exported. Sends nothing. */
export const registerImport: Register = (command, run) => {
  takes(command, "org");
  command
    .description("Turn a CSV export of customers into a provisioning file on stdout. Sends nothing to the server")
    .argument("[file]", "CSV file")
    .usage("<file> [flags]")
    .option(
      "--map <target=column>",
      "put a column somewhere; join columns with +; nothing after =: leave it out",
      collect,
    )
    .option("--map-value <field:from=to>", "replace a value; * stands for all others", collect)
    .option("--no-guess", "use only the columns that --map names")
    .option("--delimiter <char>", "comma, semicolon, tab, pipe or a character (default: found out)")
    .option("--encoding <name>", "utf-8, utf-16le, cp1252 … (default: found out, and told)")
    .option("--dates <order>", "dmy or mdy, for dates such as 03/04/2026")
    .option("--timezone <zone>", "IANA time zone of new sites whose row names none")
    .option("-o, --output <path>", "write a file instead of stdout; --yes replaces one that exists")
    .addHelpText("before", examples)
    .addHelpText("after", `\nTargets of --map:\n  ${targetNames.join("\n  ")}`)
    .action((file: string | undefined) =>
      run(async (shell, globals) => importRun(await openContext(shell, globals), file, command.opts<Options>())),
    );
};

const examples = `Examples:
  rmm import customers.csv > tenants.yaml
  rmm import kunden.csv --map organization.name=Firma --map "contact.name=Vorname+Nachname" --map-value type:Kunde=customer
  rmm import companies.csv --timezone America/Denver -o tenants.yaml
  rmm plan tenants.yaml --partner summit   # --partner: of system scope alone
  rmm import offices.csv --map site.name=City
  rmm import offices.csv --org harbor-dental
`;

async function importRun(context: Context, path: string | undefined, options: Options): Promise<number> {
  if (path === undefined) throw usageError("Missing: <file>", "A CSV file");
  const result = importCustomers(await readBytes(context.shell, path), {
    ...optionsOf(options, context.globals.org),
    name: fileName(path),
  });
  await tellGuess(context, path, result);
  const asJson = ["json", "ndjson"].includes(formatOf(context));
  const text = asJson ? `${JSON.stringify(result.file, null, 2)}\n` : await toYaml(result.file);
  const { problems } = await readModel(text);
  if (problems.length > 0) {
    throw new CliError("The rows do not make a sound provisioning file", {
      exit: "failure",
      code: "INVALID_FILE",
      details: located("result", problems),
    });
  }
  const organizations = result.file.organizations.length;
  const facts = { organizations, rows: result.rows, refused: result.refused.length };
  // A file of nothing would look like one that was made.
  if (organizations > 0 || result.refused.length === 0) await writeOutput(context, text, options.output, facts);
  await tellRefused(context, path, result);
  const failed = result.refused.map(() => "failure" as const);
  return exitCode(exitOfItems({ done: organizations, failed, skipped: 0, interrupted: false }));
}

const delimiters: Readonly<Record<string, string>> = { comma: ",", semicolon: ";", tab: "\t", "\\t": "\t", pipe: "|" };

function optionsOf(given: Options, org: string | undefined): ImportOptions {
  const { map = [], mapValue = [], guess, delimiter, encoding, dates, timezone } = given;
  const char = delimiter === undefined ? undefined : (delimiters[delimiter.toLowerCase()] ?? delimiter);
  if (char !== undefined && (char.length !== 1 || char === '"')) throw usageError("--delimiter must be one character");
  if (dates !== undefined && dates !== "dmy" && dates !== "mdy") throw usageError("--dates must be dmy or mdy");
  if (timezone !== undefined && !isTimeZone(timezone))
    throw usageError(`--timezone: ${timezone} is not an IANA time zone${zonesLike(timezone)}`);
  return { map, mapValue, guess, delimiter: char, encoding, dates, timezone, org };
}

const delimiterName = (char: string): string =>
  Object.entries(delimiters).find(([, value]) => value === char)?.[0] ?? char;

/** What was found out and what was guessed, so that a wrong guess is seen before it is applied. */
async function tellGuess(
  context: Context,
  path: string,
  { encoding, delimiter, mapping, slugs, remarks }: Imported,
): Promise<void> {
  await context.notice(`${path}: ${encoding}, ${delimiterName(delimiter)} between columns`);
  for (const [target, columns] of mapping.columns) {
    if (mapping.guessed.has(target)) await context.notice(`  guessed --map "${target}=${columns.join("+")}"`);
  }
  for (const { target, columns } of mapping.displaced) {
    const column = columns.join("+");
    await context.notice(`  ${target} gets nothing: ${column} goes elsewhere. To keep it: --map "${target}=${column}"`);
  }
  if (mapping.unmapped.length > 0) await context.notice(`  not used: ${mapping.unmapped.join(", ")}`);
  for (const { slug, name, proposed } of slugs) if (proposed) await context.notice(`  slug ${slug} for ${name}`);
  for (const { line, message } of remarks) await context.notice(`${path}:${line}: ${message}`);
}

/** Refused rows are reported even with --quiet. */
async function tellRefused(context: Context, path: string, { refused, rows, file }: Imported): Promise<void> {
  const { shell } = context;
  const found = file.organizations.length;
  const summary = `${rows - refused.length} of ${rows} rows taken, ${found} organization${found === 1 ? "" : "s"}`;
  if (refused.length === 0) return context.notice(summary);
  if (isForPrograms(context)) {
    const details = refused.map(({ line, reason }) => ({
      kind: "row",
      key: `${path}:${line}`,
      changes: [],
      item: { line, name: null },
      path: `${path}:${line}`,
      message: reason,
    }));
    const error = { code: "ROWS_REFUSED", message: summary, status: null, requestId: null, details, hint: null };
    return writeTo(shell, "stderr", `${JSON.stringify({ error })}\n`);
  }
  for (const { line, reason } of refused)
    await writeTo(shell, "stderr", `${escapeControls(`${path}:${line}: ${reason}`)}\n`);
  await writeTo(shell, "stderr", `${summary}, ${refused.length} refused\n`);
}
