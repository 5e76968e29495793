import { collect } from "../../collect.ts";
import { type Context, openContext } from "../../context.ts";
import { type CliError, usageError } from "../../errors/cli-error.ts";
import { quoted } from "../../errors/commands-to-type.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { dryRun } from "../../generic/dry-run.ts";
import { checkListing } from "../../generic/outcome-printer.ts";
import { placeText } from "../../generic/subject.ts";
import { readText } from "../../input/read-text.ts";
import { isForPrograms } from "../../output/print.ts";
import { withSpinner } from "../../output/spinner.ts";
import { CONCURRENCY } from "../../provisioning/in-parallel.ts";
import type { Register } from "../../register.ts";
import type { Shell } from "../../shell.ts";
import { proving, tabular, takes } from "../../taken-flags.ts";
import { carryOutChanges, change, changeListing, changeText, type Wanted } from "./change.ts";
import { addChoice, type ChoiceOptions, chosenDevices, devicesText } from "./chosen.ts";
import { customValueOf, fieldFor, fieldsOfOrgs } from "./custom-values.ts";

interface SetOptions extends ChoiceOptions {
  readonly field?: readonly string[];
  readonly unset?: readonly string[];
}

/** `rmm devices set`: custom values by the keys of their fields. */
export const registerSet: Register = (command, run) => {
  takes(command, ...tabular, ...proving, "org", "site", "all", "dry-run")
    .description("Set custom values of devices, by the keys of their fields")
    .argument("[devices...]", "hostname, display name or id of each")
    .usage("<device>... [flags]")
    .option("--field <key=value>", "value of a custom field; key=@file takes it from a file", collect)
    .option("--unset <key>", "take the value of a custom field away", collect)
    .addHelpText("before", examples)
    .addHelpText("after", help);
  addChoice(command).action((devices: string[]) =>
    run(async (shell, globals) => setValues(await openContext(shell, globals), devices, command.opts())),
  );
};

const examples = `Examples:
  rmm devices set reception-pc --field rack_unit=12 --field owner="Ana Lima"
  rmm devices set till-1 till-2 --field warranty_until=2028-01-31 --unset asset_note
  rmm devices set --org contoso-dental --tag kiosk --field notes=@kiosk.txt
  rmm devices set --where "hardware.model contains 'T14'" --field owner=Ana
`;
const help = `
Values are read as the field holds them: text, number, true or false, date, a
choice by its value or label. All of them are judged before any is sent. Of
several devices each is reported; exit 9: some went through, some not.

Permission: devices:write
Credential: user
MFA:        not needed
Audit:      device.custom_field.update
`;

async function setValues(context: Context, called: readonly string[], options: SetOptions): Promise<number> {
  const given = await givenValues(context.shell, options);
  if (given.size === 0) throw nothingGiven(called);
  checkListing(context, changeListing);
  const spec = (await commandsOf("custom-fields")).find(({ name }) => name === "set-values")!;
  await checkCredential(context, { ...spec, access: { ...spec.access, kinds: ["user"] } });
  const fields = fieldsOfOrgs(context);
  const wanted = await withSpinner(context, "Loading", async () => {
    const all: Wanted[] = [];
    for (const device of await chosenDevices(context, called, options)) {
      const known = await fields(device.orgId);
      const custom = Object.fromEntries(
        [...given].map(([key, text]) => {
          const field = fieldFor(known, key, device);
          if (text === null && field.required) throw usageError(`${key} is required: its value cannot be taken away`);
          return [key, text === null ? null : customValueOf(field, text)];
        }),
      );
      all.push({ device, line: null, own: {}, custom });
    }
    return all;
  });
  if (context.globals.dryRun) {
    const drafts = wanted.map(({ device, custom }) => ({
      params: { id: device.id },
      query: {},
      body: custom,
      hasBody: true,
    }));
    return dryRun(context, spec, drafts);
  }
  if (wanted.length > 0 && !isForPrograms(context))
    await context.notice(`→ ${devicesText(wanted.map(({ device }) => device))} ${placeText(context)}`);
  const tasks = wanted.map((one) => ({
    about: { key: changeText(one.device), item: { line: null, name: one.device.hostname } },
    work: (tools: Parameters<typeof change>[0]) => change(tools, one),
  }));
  return carryOutChanges(context, tasks, CONCURRENCY);
}

/** Texts by key; null takes a value away. */
async function givenValues(shell: Shell, { field = [], unset = [] }: SetOptions): Promise<Map<string, string | null>> {
  const given = new Map<string, string | null>();
  const put = (key: string, text: string | null) => {
    if (given.has(key)) throw usageError(`${key} is given twice`);
    given.set(key, text);
  };
  for (const one of field) {
    const at = one.indexOf("=");
    if (at <= 0) throw usageError("--field takes key=value, or key=@file");
    const text = one.slice(at + 1);
    put(
      one.slice(0, at),
      text.startsWith("@") ? (await readText(shell, text.slice(1), undefined, "--field")).replace(/\r?\n$/, "") : text,
    );
  }
  for (const key of unset) put(key, null);
  return given;
}

/** Who leaves out the flag has given a value as a device. */
function nothingGiven(called: readonly string[]): CliError {
  const values = called.filter((one) => /^[a-z][a-z0-9_]*=/.test(one));
  if (values.length === 0) return usageError("Nothing to change", "Give --field key=value, or --unset key");
  const are =
    values.length === 1 ? "is no flag's value: it is taken for a device" : "are no flag's: they are taken for devices";
  const flags = values.map((one) => `--field ${quoted(one)}`).join(" ");
  return usageError(`Nothing to change: ${values.join(", ")} ${are}`, `Give ${flags}`);
}
