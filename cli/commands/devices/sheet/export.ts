import { didYouMean } from "#contract/core/suggest";
import { type Context, openContext } from "../../../context.ts";
import { usageError } from "../../../errors/cli-error.ts";
import { checkCredential } from "../../../generic/check-credential.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import { checkFields } from "../../../output/print.ts";
import { withSpinner } from "../../../output/spinner.ts";
import { counted } from "../../../provisioning/budget.ts";
import type { Register } from "../../../register.ts";
import { proving, takes } from "../../../taken-flags.ts";
import { writeOutput } from "../../provisioning/write-output.ts";
import { addChoice, type ChoiceOptions, type Chosen, listedDevices } from "../chosen.ts";
import { CUSTOM, ownColumns, plainCell, sheetLine, textCell, toldColumns } from "./cells.ts";

const formats = ["csv", "ndjson", "json"] as const;
type Format = (typeof formats)[number];

interface ExportOptions extends ChoiceOptions {
  readonly output?: string;
  readonly format?: string;
}

/** `rmm devices export`: devices as a table that `rmm devices import` takes back. */
export const registerExport: Register = (command, run) => {
  takes(command, ...proving, "org", "site", "columns")
    .description("Write devices with their custom values as CSV, NDJSON or JSON")
    .option("-o, --output <path>", "write a file instead of stdout; --yes replaces one that exists")
    .option("--format <name>", `${formats.join(", ")} (default: by the file's ending, else csv)`)
    .addHelpText("before", examples)
    .addHelpText("after", help);
  addChoice(command).action(() =>
    run(async (shell, globals) => exportDevices(await openContext(shell, globals), command.opts())),
  );
};

const examples = `Examples:
  rmm devices export -o devices.csv
  rmm devices export --org contoso-dental --columns hostname,site,tags,custom.owner
  rmm devices export --format ndjson --status offline
  rmm devices export --where "software.installed contains 'Chrome'" -o chrome.csv
`;
const help = `
Columns: ${ownColumns.join(", ")},
${toldColumns.join(", ")},
and custom.<key> of every custom value.
What a spreadsheet would run as a formula begins with an apostrophe, which
rmm devices import takes away again.

Permission: devices:read
Credential: user
`;

async function exportDevices(context: Context, options: ExportOptions): Promise<number> {
  const format = formatFor(context, options);
  checkFields(context.globals, { fields: [...ownColumns, ...toldColumns, "custom"] });
  await checkCredential(context, (await commandsOf("devices")).find(({ name }) => name === "list")!);
  const { devices, slugs } = await withSpinner(context, "Loading", async () => ({
    devices: await listedDevices(context, options),
    slugs: await slugsOf(context),
  }));
  const columns = context.globals.columns ?? columnsOf(devices);
  const rows = devices.map((device) => columns.map((column) => plainCell(device, column, (id) => slugs.get(id) ?? id)));
  await writeOutput(context, textOf(format, columns, rows), options.output, { devices: devices.length });
  await context.notice(`${counted(devices.length, "device")} written`);
  return 0;
}

function formatFor({ globals }: Context, { format, output = "" }: ExportOptions): Format {
  const ending = /\.(csv|ndjson|json)$/i.exec(output)?.[1]?.toLowerCase();
  const given = format ?? (globals.json ? "json" : (ending ?? "csv"));
  const found = formats.find((one) => one === given);
  if (found) return found;
  throw usageError(`--format must be one of ${formats.join(", ")}${didYouMean(given, formats)}`);
}

export async function slugsOf(context: Context): Promise<ReadonlyMap<string, string>> {
  const client = await context.client();
  const orgs = await client.organizations.listAccessible({}, { signal: context.shell.signal }).toArray();
  return new Map(orgs.map(({ id, slug }) => [id, slug]));
}

const columnsOf = (devices: readonly Chosen[]): string[] => {
  const keys = new Set(devices.flatMap(({ customFields }) => Object.keys(customFields)));
  return [...ownColumns, ...toldColumns, ...[...keys].toSorted().map((key) => `${CUSTOM}${key}`)];
};

function textOf(format: Format, columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  if (format === "csv") return [columns, ...rows.map((row) => row.map(textCell))].map(sheetLine).join("");
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
  if (format === "json") return `${JSON.stringify(objects, null, 2)}\n`;
  return objects.map((one) => `${JSON.stringify(one)}\n`).join("");
}
