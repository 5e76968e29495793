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
import { keysOf } from "./watch-keys.ts";

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
export function registerWatch(command: Command, run: Run, specs: Specs): void {
  takes(command, ...proving, "json=", "ndjson", "columns")
    .description("Show requests that wait for a decision as they come, until Ctrl-C")
    .option("--interval <duration>", "how often to look, 5s or longer (default 5s)")
    .addHelpText("before", "Examples:\n  rmm pam watch\n  rmm pam watch --ndjson --interval 30s\n")
    .addHelpText("after", help)
    .action(() => run(async (shell, globals) => watch(await openContext(shell, globals), specs, command.opts())));
}

const help = `
On a terminal a key decides what waits: a approves, d denies, s shows, q quits.
Of several it asks which. Each is shown whole, and asked about, before anything
is sent. It writes lines alone, without sound, so that it works over SSH.

Permission: devices:read; for decisions pam:approve
Credential: user
`;

interface Specs {
  readonly list: CommandSpec;
  readonly respond: CommandSpec;
}

async function watch(context: Context, { list, respond }: Specs, { interval }: { interval?: string }): Promise<number> {
  const { shell, globals } = context;
  const pauseMs = interval === undefined ? FLOOR_MS : parseDuration(interval, "--interval");
  if (pauseMs < FLOOR_MS) throw usageError("--interval must be 5s or longer");
  checkFields(globals, { fields: columns });
  await checkCredential(context, list);
  const client = await context.client();
  const end = new AbortController();
  const signal = AbortSignal.any([shell.signal, end.signal]);
  const keys = keysOf(context, { respond, quit: () => end.abort() });
  let known: ReadonlyMap<string, Elevation> | undefined;
  await keys?.begin();
  try {
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
      if (keys === undefined) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      else await keys.wait(pauseMs, [...(known ?? new Map<string, Elevation>()).values()], signal);
    }
  } finally {
    keys?.end();
  }
  return exitCode(shell.signal.aborted || keys?.isInterrupted() ? "interrupted" : "ok");
}

function* changes(before: ReadonlyMap<string, Elevation> | undefined, now: ReadonlyMap<string, Elevation>, at: string) {
  for (const [id, request] of now) if (!before?.has(id)) yield { ...request, at, change: "waits" };
  for (const [id, request] of before ?? []) if (!now.has(id)) yield { ...request, at, change: "over" };
}
