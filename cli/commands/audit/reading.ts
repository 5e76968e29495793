import type { Command } from "commander";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { commands } from "../../generated/audit-logs.ts";
import { namesOf } from "../../generic/names.ts";
import { addEndpoint } from "../../generic/noun-group.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { checkFields } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { proving, takes, valued } from "../../taken-flags.ts";
import { followNewest } from "../follow/follow-newest.ts";
import { entryTeller } from "./tell-entries.ts";

const specOf = (name: string) => commands.find((one) => one.name === name)!;

/** Names by which entries are read here, of those of `rmm audit-logs`. */
const readings = { list: "logs", show: "get-log", prove: "proof", anchors: "anchors" } as const;

/** `rmm audit list|search|show|prove|anchors|tail`. */
export function registerReading(group: Command, run: Run): void {
  registerSearch(group, run);
  for (const [name, called] of Object.entries(readings))
    addEndpoint(group, { ...specOf(called), noun: "audit", name }, run);
  const command = takes(group.command("tail"), ...proving, ...valued, "columns", "wide", "org")
    .summary("Show the newest entries, and with -f those that come")
    .description("Show the newest entries, the oldest of them first")
    .option("-f, --follow", "go on with what comes, until Ctrl-C")
    .option("-n, --lines <n>", "how many to begin with", "10")
    .option("--user <text>", "only what this person did: part of email or name")
    .option("--action <text>", "only these actions: part of the name, such as device.")
    .option("--resource <text>", "only about these: resource type, or part of the name")
    .addHelpText("before", examples)
    .addHelpText("after", help)
    .action(() => run(async (shell, globals) => tail(await openContext(shell, globals), command.opts<TailOptions>())));
}

/** The text is an argument; `--q`, as of `rmm audit-logs search`, goes on to work. */
function registerSearch(group: Command, run: Run): void {
  const spec = { ...specOf("search"), noun: "audit", name: "search" };
  const command = addEndpoint(group, spec, run)
    .argument("[text]", "what to look for, instead of --q")
    .usage("<text> [flags]")
    .action((text: string | undefined) =>
      run(async (shell, globals) => {
        const options = command.opts();
        if (text !== undefined && options["q"] !== undefined) throw usageError("Use either a text or --q");
        const given = text === undefined ? options : { ...options, q: text };
        return runEndpoint(await openContext(shell, globals), spec, { args: [], options: given });
      }),
    );
}

const examples = `Examples:
  rmm audit tail
  rmm audit tail -f --org contoso-dental --action device.
`;
const help = `
A line for each entry; with --json or --ndjson an object. A terminal shows the
day once, and cuts what a line has no room for; --wide shows all of it.

Permission: audit:read
Credential: user
`;

interface TailOptions {
  readonly follow?: boolean;
  readonly lines: string;
  readonly user?: string;
  readonly action?: string;
  readonly resource?: string;
}

const LINES_MAX = 1_000;

async function tail(context: Context, { follow, lines, user, action, resource }: TailOptions): Promise<number> {
  const first = Math.min(LINES_MAX, Math.max(1, Number.parseInt(lines, 10) || 10));
  const spec = specOf("logs");
  checkFields(context.globals, { fields: spec.fields });
  const { org } = context.settings;
  const orgId = org.value === undefined ? undefined : await namesOf(context).orgId(org.value);
  const client = await context.client();
  const query = {
    ...(orgId && { orgId }),
    ...(user && { user }),
    ...(action && { action }),
    ...(resource && { resource }),
  };
  const list = (signal: AbortSignal) =>
    client.auditLogs.logs({ query: { ...query, limit: Math.min(100, first), skipCount: true } }, { signal });
  const tell = entryTeller(context, spec);
  if (follow) return followNewest(context, { tell, first, list });
  await tell((await (await list(context.shell.signal)).toArray({ limit: first })).reverse());
  return exitCode("ok");
}
