import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import type { Elevation } from "#sdk/generated/models/index";
import { RmmError } from "#sdk/rmm-error";
import { type Context, openContext } from "../../context.ts";
import { parseDuration } from "../../duration.ts";
import { usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import type { CommandSpec } from "../../manifest.ts";
import { checkFields } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, takes } from "../../taken-flags.ts";
import { inSeconds, type LineColumn, lineOf } from "../webhooks/line-of.ts";

const FLOOR_MS = 5_000;
const columns = [
  "at",
  "change",
  "deviceHostname",
  "requestedByName",
  "subjectUsername",
  "targetExecutablePath",
  "reason",
  "riskTier",
  "id",
] as const;
/** The id too, on every terminal: whoever decides types it. */
const lines = columns.map((name): LineColumn => {
  if (name === "at") return { name, say: inSeconds };
  return name === "riskTier" ? { name, say: (tier) => `risk ${tier}` } : { name };
});

/** `rmm pam watch`: a line for each request that comes, and for each that waits no more, until Ctrl-C. */
export function registerWatch(command: Command, run: Run, list: CommandSpec): void {
  takes(command, ...proving, "json=", "ndjson", "columns")
    .description("Show requests that wait for a decision as they come, until Ctrl-C")
    .option("--interval <duration>", "how often to look, 5s or longer (default 5s)")
    .addHelpText("before", "Examples:\n  rmm pam watch\n  rmm pam watch --ndjson --interval 30s\n")
    .addHelpText("after", "\nPermission: devices:read\nCredential: user\n")
    .action(() => run(async (shell, globals) => watch(await openContext(shell, globals), list, command.opts())));
}

async function watch(context: Context, list: CommandSpec, { interval }: { interval?: string }): Promise<number> {
  const { shell, globals } = context;
  const pauseMs = interval === undefined ? FLOOR_MS : parseDuration(interval, "--interval");
  if (pauseMs < FLOOR_MS) throw usageError("--interval must be 5s or longer");
  checkFields(globals, { fields: columns });
  await checkCredential(context, list);
  const client = await context.client();
  const { signal } = shell;
  let known: ReadonlyMap<string, Elevation> | undefined;
  while (!signal.aborted) {
    try {
      const query = { status: "pending", limit: 100 } as const;
      const waiting = await client.elevationRequests.list({ query }, { signal }).toArray();
      const now = new Map(waiting.toReversed().map((request) => [request.id, request]));
      const at = new Date(shell.now()).toISOString();
      for (const line of [...changes(known, now, at)])
        await writeTo(shell, "stdout", `${lineOf(context, line, lines)}\n`);
      known = now;
    } catch (error) {
      if (signal.aborted) break;
      if (known === undefined || !(error instanceof RmmError && (error.retryable || error.status === undefined)))
        throw error;
      await context.notice(`${error.message}. Looks again until the server is back (Ctrl-C ends)`);
    }
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return exitCode("interrupted");
}

function* changes(before: ReadonlyMap<string, Elevation> | undefined, now: ReadonlyMap<string, Elevation>, at: string) {
  for (const [id, request] of now) if (!before?.has(id)) yield { ...request, at, change: "waits" };
  for (const [id, request] of before ?? []) if (!now.has(id)) yield { ...request, at, change: "over" };
}
