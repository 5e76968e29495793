import type { Command } from "commander";
import { openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { Register } from "../../register.ts";
import { leftBehind } from "./left-behind.ts";

const named = (group: Command, name: string): Command => group.commands.find((one) => one.name() === name)!;

/** Loaded when they are called, or when all are shown. */
const written: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Register> }>> = {
  run: {
    summary: "Tell devices to do something",
    load: async () => (await import("./run/index.ts")).registerRun,
  },
  set: {
    summary: "Set custom values of devices",
    load: async () => (await import("./set.ts")).registerSet,
  },
  export: {
    summary: "Write devices as CSV, NDJSON or JSON",
    load: async () => (await import("./sheet/export.ts")).registerExport,
  },
  import: {
    summary: "Change devices to what a CSV file says",
    load: async () => (await import("./sheet/import.ts")).registerImport,
  },
  watch: {
    summary: "Show devices, and each change of one",
    load: async () => (await import("./watch/index.ts")).registerWatch,
  },
};

/** Words that people look for, beside the names of the endpoints, and what no single endpoint does. */
export const extendDevices: Register = async (group, run, program) => {
  named(group, "get").alias("show");
  named(group, "remove").alias("decommission");
  const move = named(group, "move-org").alias("move");
  const spec = (await commandsOf("devices")).find(({ name }) => name === "move-org")!;
  move.addHelpText("after", moveHelp).action((id: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      return runEndpoint(context, spec, { args: [id], options: move.opts(), warnings: leftBehind });
    }),
  );
  for (const [name, { summary, load }] of Object.entries(written)) {
    const command = group.command(name).summary(summary);
    if (program.called === undefined || program.called === name) await (await load())(command, run, program);
  }
  group.addHelpText("after", "\nAlso: show is get, move is move-org, decommission is remove.\n");
};

export const extendDeviceCommands: Register = (group) => {
  named(group, "get").alias("show");
};

const moveHelp = `
Before it asks it says what does not go along: the history of commands, and
custom values without a field there. --org and --site are where it goes:
  rmm devices move reception-pc --org fabrikam --site HQ
`;
