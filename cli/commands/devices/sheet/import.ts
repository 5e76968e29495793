import { randomUUID } from "node:crypto";
import { collect } from "../../../collect.ts";
import { type Context, openContext } from "../../../context.ts";
import { missingInput, usageError } from "../../../errors/cli-error.ts";
import { checkCredential } from "../../../generic/check-credential.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import { maskSecrets } from "../../../generic/minted.ts";
import { checkListing } from "../../../generic/outcome-printer.ts";
import { placeText } from "../../../generic/subject.ts";
import { encodingOption, readText } from "../../../input/read-text.ts";
import { isForPrograms } from "../../../output/print.ts";
import { withSpinner } from "../../../output/spinner.ts";
import { counted } from "../../../provisioning/budget.ts";
import { createdFields } from "../../../provisioning/fields.ts";
import { CONCURRENCY } from "../../../provisioning/in-parallel.ts";
import type { Register } from "../../../register.ts";
import { proving, tabular, takes } from "../../../taken-flags.ts";
import { carryOutChanges, change, changeListing, changeText, planned, type Task } from "../change.ts";
import { ownColumns } from "./cells.ts";
import { type Missing, type Planned, planRows } from "./plan-rows.ts";
import { readSheet } from "./read-sheet.ts";
import { type SecretPlace, secretPlace } from "./secrets.ts";

interface ImportOptions {
  readonly map?: readonly string[];
  readonly ignore?: readonly string[];
  readonly plan?: boolean;
  readonly clearEmpty?: boolean;
  readonly provision?: boolean;
  readonly secretFile?: string;
  readonly secretDir?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly concurrency?: string;
}

/** `rmm devices import`: what a table says of devices, sent where it differs. */
export const registerImport: Register = (command, run) => {
  takes(command, ...tabular, ...proving, "org", "dry-run")
    .description("Change devices to what a CSV file says of them, and with --provision add those that are not there")
    .argument("[file]", "CSV file, or - for stdin")
    .usage("<file> [flags]")
    .option("--map <target=column>", "say what a column is: custom.rack=Rack", collect)
    .option("--ignore <column>", "leave a column out", collect)
    .option("--plan", "show what would change, and send nothing; --dry-run does the same")
    .option("--clear-empty", "an empty cell takes the value away (default: it leaves it)")
    .option("--provision", "add devices that are not there")
    .option("--secret-file <path>", "write the keys of added devices to a new file, a JSON line each")
    .option("--secret-dir <path>", "write them to a file for each in this folder")
    .option("--delimiter <char>", "of the file (default: found out)")
    .option(...encodingOption)
    .option("--concurrency <n>", `how many are sent at once, 1 to 16 (default ${CONCURRENCY})`)
    .addHelpText("before", examples)
    .addHelpText("after", help)
    .action((file: string | undefined) =>
      run(async (shell, globals) => importDevices(await openContext(shell, globals), file, command.opts())),
    );
};

const examples = `Examples:
  rmm devices import devices.csv --plan
  rmm devices import devices.csv
  rmm devices import machines.csv --org contoso-dental --map hostname=Computer --ignore Price
  rmm devices import new.csv --provision --secret-dir secrets/
`;
const help = `
Columns: ${ownColumns.join(", ")},
custom.<key>. A row is found by id, else by org and hostname.
Cells that say what the server has change nothing, so what rmm devices export
wrote can be edited and imported, again and again. A bad row is named with line
and column, the others are done; exit 9. hostname, org and osType do not change.

Permission: devices:write; sites take a second factor
Credential: user
Audit:      device.update, device.custom_field.update, device.create
`;

async function importDevices(context: Context, path: string | undefined, options: ImportOptions): Promise<number> {
  if (path === undefined) throw missingInput(["<file>"], "A CSV file, or - for stdin");
  checkListing(context, changeListing);
  const width = widthOf(options.concurrency);
  const spec = (await commandsOf("devices")).find(({ name }) => name === "update")!;
  await checkCredential(context, spec);
  const text = await readText(context.shell, path, options.encoding);
  const rows = readSheet(text, { map: options.map ?? [], ignore: options.ignore ?? [], delimiter: options.delimiter });
  const plan = options.plan === true || context.globals.dryRun;
  const how = { clears: options.clearEmpty === true, provisions: options.provision === true };
  const items = await withSpinner(context, "Loading", () => planRows(context, rows, how));
  const adds = items.some((item) => "missing" in item) && !plan;
  if (!plan && rows.length > 0 && !isForPrograms(context))
    await context.notice(`→ ${counted(rows.length, "row")} ${placeText(context)}`);
  const secrets = adds || (how.provisions && !plan) ? await secretPlace(context, options) : undefined;
  try {
    const tasks = items.map((item) => taskOf(context, item, plan ? "plan" : secrets));
    return await carryOutChanges(context, tasks, plan ? 1 : width);
  } finally {
    await secrets?.close();
  }
}

function widthOf(text = String(CONCURRENCY)): number {
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 16) return Number(text);
  throw usageError("--concurrency must be a whole number from 1 to 16");
}

function taskOf(context: Context, item: Planned, secrets: SecretPlace | "plan" | undefined): Task {
  const { line, cells } = item.row;
  if ("wanted" in item) {
    const { device } = item.wanted;
    const work: Task["work"] = async (tools) =>
      secrets === "plan" ? planned(item.wanted) : change(tools, item.wanted);
    return { about: { key: changeText(device), item: { line, name: device.hostname } }, work };
  }
  const name = cells.get("hostname") || cells.get("id") || null;
  if ("missing" in item) {
    const { missing } = item;
    const about = { key: `${missing.orgName}/${missing.hostname}`, item: { line, name } };
    return { about, work: (tools) => provision(context, tools, missing, about, secrets) };
  }
  const about = { key: [cells.get("org"), name].filter(Boolean).join("/"), item: { line, name } };
  return { about, work: () => Promise.reject(item.failure) };
}

/** The same call under the same key gives the same device and key, so it is repeated where the answer is lost. */
async function provision(
  context: Context,
  { client, sender }: Parameters<Task["work"]>[0],
  { orgId, orgName, siteId, hostname, osType, own, custom }: Missing,
  about: Task["about"],
  secrets: SecretPlace | "plan" | undefined,
): ReturnType<Task["work"]> {
  const body = { orgId, siteId, hostname, osType, ...own };
  const given = Object.entries(custom).map(([key, after]) => ({ field: `custom.${key}`, before: null, after }));
  const told = { kind: "device" as const, ...about, changes: [...createdFields(body), ...given] };
  if (secrets === "plan" || secrets === undefined) return { outcome: "planned", deviceId: null, ...told };
  const idempotencyKey = randomUUID();
  const made = await sender.send(() => client.devices.provision({ body }, { idempotencyKey }), { repeatable: true });
  const { enrollmentKey, enrollmentSecret, serverUrl, expiresAt } = made.enrollment;
  await maskSecrets(context, [enrollmentKey, enrollmentSecret]);
  const deviceId = made.device.id;
  await secrets.keep({ org: orgName, hostname, deviceId, enrollmentKey, enrollmentSecret, serverUrl, expiresAt });
  if (given.length > 0)
    await sender.send(() => client.customFields.setValues({ params: { id: deviceId }, body: custom }), {
      repeatable: true,
    });
  return { outcome: "done", deviceId, ...told };
}
