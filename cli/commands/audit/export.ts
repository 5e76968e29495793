import { createHash } from "node:crypto";
import type { Command } from "commander";
import { didYouMean } from "#contract/core/suggest";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { namesOf } from "../../generic/names.ts";
import type { Run } from "../../register.ts";
import { proving, takes } from "../../taken-flags.ts";
import { refuseUnwritable, writeOutput } from "../provisioning/write-output.ts";
import { addNarrowing, type Narrowing, rangeOf } from "./narrowing.ts";

const formats = ["csv", "json"] as const;
type Format = (typeof formats)[number];

interface ExportOptions extends Narrowing {
  readonly output?: string;
  readonly format?: string;
  readonly user?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly bundle?: string;
}

/** `rmm audit export`: the newest entries as a file, with its checksum and where to go on. */
export function registerAuditExport(group: Command, run: Run): void {
  const command = group.command("export").summary("Write audit entries as CSV or JSON");
  takes(command, ...proving, "org");
  addNarrowing(command)
    .description("Write the newest 10,000 entries that match; it says where the next export goes on")
    .option("-o, --output <path>", "write a file instead of stdout; --yes replaces one that exists")
    .option("--format <name>", `${formats.join(", ")} (default: by the file's ending, else csv)`)
    .option("--bundle <path>", "write the whole chain, to be verified without the server; .gz packs it")
    .option("--user <text>", "only what this person did: part of email or name")
    .option("--action <text>", "only these actions: part of the name, such as device.")
    .option("--resource <text>", "only about these: resource type, or part of the name")
    .addHelpText("before", examples)
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => exportEntries(await openContext(shell, globals), command.opts<ExportOptions>())),
    );
}

const examples = `Examples:
  rmm audit export -o audit.csv
  rmm audit export --org contoso-dental --from 2026-01-01 --to 2026-03-31 -o q1.csv
  rmm audit export --action user.login --format json
  rmm audit export --bundle contoso.ndjson.gz --org contoso-dental
`;
const help = `
What a spreadsheet would run as a formula begins with an apostrophe.
--bundle writes every entry of one chain, with its place in it and the anchors;
without --org it is your organization's. rmm audit verify FILE judges it.

Permission: audit:export
Credential: user
Audit:      audit_logs.export
`;

interface Facts {
  readonly total: number;
  readonly truncated: boolean;
  readonly oldest: string | null;
}

async function exportEntries(context: Context, options: ExportOptions): Promise<number> {
  const { org } = context.settings;
  if (options.bundle !== undefined) {
    const others = Object.keys(options).filter((name) => name !== "bundle");
    if (others.length > 0) throw usageError(`--bundle writes a whole chain: it takes no --${others.join(", --")}`);
    const { exportBundleFile } = await import("./export-bundle.ts");
    return exportBundleFile(context, options.bundle, org.value && (await namesOf(context).orgId(org.value)));
  }
  const format = formatFor(context, options);
  const dateRange = rangeOf(context, options);
  await refuseUnwritable(context, options.output);
  const orgId = org.value === undefined ? undefined : await namesOf(context).orgId(org.value);
  const { user, action, resource } = options;
  const client = await context.client();
  const body = { format, orgId, filters: { user, action, resource }, dateRange };
  const { data, response } = await client.auditLogs.export({ body }, { signal: context.shell.signal }).withResponse();
  const facts = typeof data === "string" ? factsOf(response.headers) : data;
  const text = typeof data === "string" ? data : `${JSON.stringify(data, null, 2)}\n`;
  const { total, truncated, oldest } = facts;
  const sha256 = createHash("sha256").update(text).digest("hex");
  await writeOutput(context, text, options.output, { total, truncated, oldest, sha256 });
  if (options.output !== undefined && options.output !== "-") await context.notice(`SHA-256 ${sha256}`);
  if (truncated) await context.notice(`The newest 10,000 of ${total} entries; the next ones: --to ${oldest}`);
  return 0;
}

const factsOf = (headers: { get(name: string): string | null }): Facts => ({
  total: Number(headers.get("x-total-count")),
  truncated: headers.get("x-truncated") === "true",
  oldest: headers.get("x-oldest"),
});

function formatFor({ globals }: Context, { format, output = "" }: ExportOptions): Format {
  const ending = /\.(csv|json)$/i.exec(output)?.[1]?.toLowerCase();
  const given = format ?? ending ?? (globals.json ? "json" : "csv");
  const found = formats.find((one) => one === given);
  if (found) return found;
  throw usageError(`--format must be one of ${formats.join(", ")}${didYouMean(given, formats)}`);
}
