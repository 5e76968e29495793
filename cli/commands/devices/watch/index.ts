import { type Context, openContext } from "../../../context.ts";
import { parseDuration } from "../../../duration.ts";
import { usageError } from "../../../errors/cli-error.ts";
import { exitCode } from "../../../errors/exit-codes.ts";
import { checkCredential } from "../../../generic/check-credential.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import type { CommandSpec } from "../../../manifest.ts";
import { checkFields, isForPrograms, printResult } from "../../../output/print.ts";
import type { Register } from "../../../register.ts";
import { writeTo } from "../../../shell.ts";
import { proving, takes } from "../../../taken-flags.ts";
import { inSeconds, type LineColumn, lineOf } from "../../webhooks/line-of.ts";
import { addChoice, type ChoiceOptions, type Chosen, deviceReader, namedDevices } from "../chosen.ts";
import { type Change, rounds } from "./changes.ts";

interface WatchOptions extends ChoiceOptions {
  readonly interval?: string;
  readonly seen?: boolean;
}

const columns: readonly (keyof Change)[] = ["at", "hostname", "change", "before", "after", "orgName", "deviceId"];
const lines = columns.map((name): LineColumn => {
  if (name === "at") return { name, say: inSeconds };
  return { name, isId: name === "deviceId" };
});
const FLOOR_MS = 5_000;

/** `rmm devices watch`: what changes about devices, until Ctrl-C. */
export const registerWatch: Register = (command, run) => {
  takes(command, ...proving, "org", "site", "json=", "ndjson", "columns")
    .description("Show devices, and a line for each change of one, until Ctrl-C")
    .argument("[devices...]", "hostname, display name or id of each; none: all, or those that flags choose")
    .usage("[<device>...] [flags]")
    .option("--interval <duration>", "how often to look, 5s or longer (default 5s)")
    .option("--seen", "tell each time a device was heard of, too")
    .addHelpText("before", examples)
    .addHelpText("after", help);
  addChoice(command).action((devices: string[]) =>
    run(async (shell, globals) => watch(await openContext(shell, globals), devices, command.opts())),
  );
};

const examples = `Examples:
  rmm devices watch --org contoso-dental
  rmm devices watch reception-pc till-1 --seen
  rmm devices watch --tag kiosk --ndjson --interval 30s
  rmm devices watch --where "osType = windows and system.rebootRequired = true"
`;
const help = `
A terminal is shown the devices first; a pipe gets changes alone, with --ndjson
as objects. A large fleet is looked at less often: a pause is at least four
times as long as the look. While the server is away the command waits for it.

Permission: devices:read
Credential: user
`;

async function watch(context: Context, called: readonly string[], options: WatchOptions): Promise<number> {
  const { shell, globals } = context;
  const pauseMs = options.interval === undefined ? FLOOR_MS : parseDuration(options.interval, "--interval");
  if (pauseMs < FLOOR_MS) throw usageError("--interval must be 5s or longer");
  checkFields(globals, { fields: columns });
  const spec = (await commandsOf("devices")).find(({ name }) => name === "list")!;
  await checkCredential(context, spec);
  const first = called.length > 0 ? await namedDevices(context, called) : undefined;
  // A name may come to mean another device meanwhile; what was named first is what is watched.
  const ids = first?.map(({ id }) => id);
  const read =
    ids === undefined ? await deviceReader(context, options, { pending: true }) : () => namedDevices(context, ids);
  const away = (message: string) => context.notice(`${message}. Looks again until the server is back (Ctrl-C ends)`);
  const { signal, now } = shell;
  const shows = shell.isTty.stdout && !isForPrograms(context) && globals.columns === undefined;
  for await (const { devices, changes } of rounds({ read, signal, now, pauseMs, away, seen: options.seen === true })) {
    if (changes === undefined && shows) {
      await printResult(context, devices.map(withPending), shape(spec));
      await context.notice(`${countsOf(devices)}. Changes follow until Ctrl-C`);
    }
    for (const change of changes ?? []) await writeTo(shell, "stdout", `${lineOf(context, change, lines)}\n`);
  }
  return exitCode("interrupted");
}

/** The list's own columns with the number of commands that each has not collected, under a short heading. */
const withPending = (device: Chosen) => ({ ...device, pending: device.pendingCommandCount ?? 0 });
const shape = ({ fields, columns: [hostname = "hostname", status = "status", ...others] }: CommandSpec) => ({
  fields: [...fields, "pending"],
  columns: [hostname, status, "pending", ...others],
  keep: ["pending"],
});

/** `12 online, 3 offline`. */
function countsOf(devices: readonly Chosen[]): string {
  const counts = new Map<string, number>();
  for (const { status } of devices) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ") || "no devices";
}
