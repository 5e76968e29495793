import { didYouMean } from "#contract/core/suggest";
import type { DiagnosticLog } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { completeInput } from "../../generic/complete-input.ts";
import type { Arguments, Draft } from "../../generic/invocation.ts";
import { placeScope } from "../../generic/place-scope.ts";
import { readInvocation } from "../../generic/read-invocation.ts";
import { resolveNames } from "../../generic/resolve-names.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import { checkFields } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { lineColumnsOf, lineOf } from "../webhooks/line-of.ts";
import { followNewest } from "./follow-newest.ts";

/** Of the past, to begin with. */
const FIRST = 10;

const followExample = (name: string): string =>
  `Go on with what comes:\n  rmm device-logs ${name} reception-pc --follow\n`;

/** `rmm logs diagnostic|events DEVICE --follow`: a line for each entry, and for those that come. */
export const extendDeviceLogs: Register = async (group, run) => {
  group.addHelpText("before", followExample("diagnostic"));
  for (const name of ["diagnostic", "events"] as const) {
    const command = group.commands.find((one) => one.name() === name)!;
    const spec = (await commandsOf("device-logs")).find((one) => one.name === name)!;
    command
      .option("--follow", "go on with what comes, until Ctrl-C")
      .addHelpText("before", followExample(name))
      .addHelpText("after", "\n--follow prints a line for each entry; with --json or --ndjson an object.\n")
      .action((device: string | undefined) =>
        run(async (shell, globals) => {
          const context = await openContext(shell, globals);
          const { follow, ...flags } = command.opts();
          const options = name === "diagnostic" ? withLevels(flags) : flags;
          const given: Arguments = { args: [device], options };
          if (!follow || device === undefined) return runEndpoint(context, spec, given);
          if (globals.jq !== undefined)
            throw usageError("--follow has no end that --jq could wait for: pipe --ndjson to jq");
          checkFields(globals, { fields: spec.fields });
          return follows(context, spec, await asked(context, spec, given));
        }),
      );
  }
};

/** As agents write them. The server passes over a name that it does not know, and finds nothing where it knows none. */
const levels = ["debug", "info", "warn", "error"] satisfies readonly DiagnosticLog["level"][];
const alsoCalled: Readonly<Record<string, string>> = { warning: "warn", err: "error" };

function withLevels({ level, ...flags }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (typeof level !== "string") return flags;
  const names = level.split(",").map((one) => one.trim().toLowerCase());
  const known = names.map((one) => alsoCalled[one] ?? one);
  const unknown = known.find((one) => !(levels as readonly string[]).includes(one));
  if (unknown !== undefined)
    throw usageError(`--level must be some of ${levels.join(", ")}${didYouMean(unknown, levels)}`);
  return { ...flags, level: known.join(",") };
}

/** What would be sent for one page. */
async function asked(context: Context, spec: CommandSpec, given: Arguments): Promise<Draft> {
  await checkCredential(context, spec);
  const read = await readInvocation(context, spec, given);
  const { drafts } = await resolveNames(await completeInput(await placeScope(read)));
  return drafts[0] as Draft;
}

async function follows(context: Context, spec: CommandSpec, { params, query }: Draft): Promise<number> {
  const { deviceLogs } = await context.client();
  const ask = { params: { id: params["id"] as string }, query: { ...query, limit: 100 } };
  const list = (signal: AbortSignal): AsyncIterable<{ id: string }> =>
    spec.name === "events" ? deviceLogs.events(ask, { signal }) : deviceLogs.diagnostic(ask, { signal });
  const columns = lineColumnsOf(spec, {});
  const tell = async (rows: readonly object[]) => {
    for (const row of rows) await writeTo(context.shell, "stdout", `${lineOf(context, row, columns)}\n`);
  };
  return followNewest(context, { tell, first: FIRST, list });
}
