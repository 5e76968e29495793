import type { Command } from "commander";
import type { RunningServer } from "#server/main";
import { CliError } from "../../errors/cli-error.ts";
import { commandToType } from "../../errors/commands-to-type.ts";
import type { Globals } from "../../globals.ts";
import type { Run } from "../../register.ts";
import { type Shell, writeTo } from "../../shell.ts";
import { takes } from "../../taken-flags.ts";
import { addPlaceFlags, type PlaceOptions, serverConfig } from "./server-config.ts";

/** `rmm server start`: runs until SIGINT or SIGTERM, then lets running requests finish. */
export function registerStart(group: Command, run: Run): void {
  const command = group.command("start").summary("Start the server");
  takes(command, "ndjson");
  addPlaceFlags(command)
    .description(
      "Start the server. It needs no set-up: without settings it keeps its data in ./.rmm. Logs go to stderr",
    )
    .option("--port <n>", "port (PORT; default 3000); 0 picks a free one")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addHelpText("before", "Examples:\n  rmm server start\n  rmm server start --port 0 --data-dir ./data --json\n")
    .action(() => run((shell, globals) => start(shell, globals, command.opts<PlaceOptions>())));
}

async function start(shell: Shell, globals: Globals, options: PlaceOptions): Promise<number> {
  const config = await serverConfig(shell, options);
  const { startServer } = await import("#server/main");
  const host = options.host ?? "127.0.0.1";
  const server = await startServer({ config, host }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new CliError(`Port ${config.port} is in use`, {
      exit: "failure",
      code: "PORT_IN_USE",
      hint: "Choose another with --port; 0 picks a free one",
    });
  });
  try {
    const line =
      globals.json || globals.ndjson
        ? JSON.stringify({ event: "listening", url: server.url })
        : `Listening on ${server.url}`;
    await writeTo(shell, "stdout", `${line}\n`);
    await hintFirstAdmin(shell, globals, server);
    await untilStopped(shell);
  } finally {
    await server.stop();
  }
  return 0;
}

/** An installation without users is of no use to anyone. */
async function hintFirstAdmin(shell: Shell, globals: Globals, { services }: RunningServer): Promise<void> {
  if (globals.quiet || globals.json || globals.ndjson) return;
  const { hasUsers } = await import("#server/doctor");
  if (await hasUsers(services)) return;
  const make = commandToType(["server", "create-admin", "--email", "you@example.com"], {}, globals.given);
  const line = `There is no user yet. Make the first: \`${make}\`\n`;
  await writeTo(shell, "stderr", line);
}

function untilStopped({ signal }: Shell): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
