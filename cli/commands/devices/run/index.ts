import { randomUUID } from "node:crypto";
import { didYouMean } from "#contract/core/suggest";
import { type UserCommandType, userCommandTypes } from "#contract/core/user-command-types";
import { collect } from "../../../collect.ts";
import { type Context, openContext } from "../../../context.ts";
import { declined, missingInput, usageError } from "../../../errors/cli-error.ts";
import { checkCredential } from "../../../generic/check-credential.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import { dryRun } from "../../../generic/dry-run.ts";
import { checkListing } from "../../../generic/outcome-printer.ts";
import { placeText } from "../../../generic/subject.ts";
import { isForPrograms } from "../../../output/print.ts";
import { withSpinner } from "../../../output/spinner.ts";
import { prompterOf } from "../../../prompt.ts";
import { counted } from "../../../provisioning/budget.ts";
import type { Register } from "../../../register.ts";
import { proving, tabular, takes } from "../../../taken-flags.ts";
import { addChoice, type ChoiceOptions, type Chosen, chosenDevices, devicesText } from "../chosen.ts";
import { carryOut } from "./carry-out.ts";
import { chosenFirst, keepChosen } from "./chosen-first.ts";
import { listing } from "./outcome.ts";
import { checkPayload, payloadOf } from "./payload.ts";
import { type Order, pagesOf } from "./queue.ts";

interface RunOptions extends ChoiceOptions {
  readonly payload?: readonly string[];
}

/** What takes a machine away from whoever works at it. */
const disturbing: ReadonlySet<string> = new Set(["reboot", "reboot_safe_mode", "shutdown", "lock"]);

/** `rmm devices run`: one command for one device or for many, followed to its end with `--wait`. */
export const registerRun: Register = (command, run) => {
  const more = ["org", "site", "all", "confirm", "dry-run", "wait", "idempotency-key"] as const;
  takes(command, ...tabular, ...proving, ...more)
    .description("Tell devices to do something, and with --wait wait for what comes of it")
    .argument("[type]", userCommandTypes.join(", "))
    .argument("[devices...]", "hostname, display name or id of each")
    .usage("<type> [<device>...] [flags]")
    .option("--payload <what>", "key=value, repeated, or @file with a JSON object", collect)
    .addHelpText("before", examples)
    .addHelpText("after", help);
  addChoice(command).action((type: string | undefined, devices: string[]) =>
    run(async (shell, globals) => runType(await openContext(shell, globals), type, devices, command.opts())),
  );
};

const examples = `Examples:
  rmm devices run refresh_inventory reception-pc --wait
  rmm devices run reboot --org contoso-dental --tag kiosk --payload delayMinutes=10
  rmm devices run collect_logs --status online --all --wait --timeout 10m --ndjson
  rmm devices run refresh_inventory --where "lastSeenAt within 1 day"
`;
const help = `
Payload: delayMinutes and reason of reboot and shutdown, version of update.
Devices that flags choose and that take no commands, because they are pending or
quarantined, are left out unless --status names them.

--wait follows each command to its end, for at most --timeout; what it is still
waiting for then goes on, and exit is 8. Exit 9: some went through, some not.
Nothing is queued twice: a run that was interrupted, or of which it is not known
what came, says with which --idempotency-key it can be repeated for a day. It is
about the devices that were chosen at first then.

Permission: devices:execute
Credential: user
MFA:        needed
Audit:      device.command.queue
`;

async function runType(
  context: Context,
  given: string | undefined,
  called: readonly string[],
  options: RunOptions,
): Promise<number> {
  const type = typeOf(given);
  const payload = await payloadOf(context.shell, options.payload ?? []);
  if (payload !== undefined) await checkPayload(type, payload);
  checkListing(context, listing);
  const [one, many] = await specs();
  await checkCredential(context, many);
  // Named devices are the same every time.
  const first = called.length > 0 ? undefined : await chosenFirst(context, type);
  if (first) await context.notice(`Going on with the ${counted(first.length, "device")} chosen at first`);
  const found = first ?? (await withSpinner(context, "Loading", () => chosenDevices(context, called, options)));
  const isTaken = called.length > 0 || first !== undefined || options.status !== undefined;
  const devices = isTaken ? found : found.filter(takesCommands);
  if (devices.length < found.length)
    await context.notice(`${found.length - devices.length} left out: pending, or quarantined`);
  if (context.globals.dryRun) {
    const body = { type, ...(payload && { payload }) };
    const [only] = devices;
    if (devices.length === 1 && only)
      return dryRun(context, one, [{ params: { id: only.id }, query: {}, body, hasBody: true }]);
    const drafts = pagesOf(devices).map((page) => ({ ...body, deviceIds: page.map(({ id }) => id) }));
    return dryRun(
      context,
      many,
      drafts.map((one) => ({ params: {}, query: {}, body: one, hasBody: true })),
    );
  }
  if (devices.length > 0) await confirm(context, type, devices, options.where !== undefined);
  const order: Order = { type, payload, key: context.globals.idempotencyKey ?? randomUUID() };
  if (called.length === 0 && first === undefined && devices.length > 0) await keepChosen(context, order, devices);
  return carryOut(context, order, devices);
}

async function specs() {
  const all = await commandsOf("device-commands");
  return [all.find(({ name }) => name === "queue")!, all.find(({ name }) => name === "queue-many")!] as const;
}

const takesCommands = ({ status }: Chosen): boolean => !["pending", "quarantined", "decommissioned"].includes(status);

function typeOf(given: string | undefined): UserCommandType {
  const types = `Types: ${userCommandTypes.join(", ")}`;
  if (given === undefined) throw missingInput(["the type of command"], types);
  const known = userCommandTypes.find((one) => one === given);
  if (known !== undefined) return known;
  throw usageError(`There is no type ${given}${didYouMean(given, userCommandTypes)}`, types);
}

/**
 * `--yes` answers; for all devices there are, for several that an expression found, and for whoever wants to be sure,
 * their number has to be given. What is asked about is what is told then, whatever matches meanwhile.
 */
async function confirm(
  context: Context,
  type: string,
  devices: readonly Chosen[],
  byExpression: boolean,
): Promise<void> {
  const { globals, shell, interactive } = context;
  const what = `${type}: ${devicesText(devices)} ${placeText(context)}`;
  const count = String(devices.length);
  const isMany = globals.all || (byExpression && devices.length > 1);
  const counts = globals.confirm !== undefined || (isMany && disturbing.has(type));
  if (!counts && (!disturbing.has(type) || globals.yes)) {
    if (!isForPrograms(context)) await context.notice(`→ ${what}`);
    return;
  }
  if (!counts) {
    if (!interactive) throw missingInput(["--yes"], `It would do this: ${what}`);
    if (!(await prompterOf(shell).confirm(`${what}?`))) throw declined("Nothing was queued");
    return;
  }
  if (globals.confirm === undefined && !interactive)
    throw missingInput([`--confirm=${count}`], `It would do this: ${what}`);
  const typed = globals.confirm ?? (await prompterOf(shell).text(`${what}. Type ${count} to go on`));
  if (typed.trim() !== count)
    throw declined(`${count} devices would be told: nothing was queued`, `Confirm with --confirm=${count}`);
}
