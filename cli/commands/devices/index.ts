import type { Command } from "commander";
import { type Context, openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { Register } from "../../register.ts";
import { leftBehind } from "./left-behind.ts";

const named = (group: Command, name: string): Command => group.commands.find((one) => one.name() === name)!;

/** Words that people look for, beside the names of the endpoints. */
export const extendDevices: Register = async (group, run, program) => {
  named(group, "get").alias("show");
  named(group, "remove").alias("decommission");
  const move = named(group, "move-org").alias("move");
  const spec = (await commandsOf("devices")).find(({ name }) => name === "move-org")!;
  move.addHelpText("after", moveHelp).action((id: string | undefined) =>
    run(async (shell, globals) => {
      const context: Context = await openContext(shell, globals);
      return runEndpoint(context, spec, { args: [id], options: move.opts(), warnings: leftBehind });
    }),
  );
  const { registerRun } = await import("./run/index.ts");
  await registerRun(group.command("run").summary("Tell devices to do something"), run, program);
  const { registerSet } = await import("./set.ts");
  await registerSet(group.command("set").summary("Set custom values of devices"), run, program);
  const { registerExport } = await import("./sheet/export.ts");
  await registerExport(group.command("export").summary("Write devices as CSV, NDJSON or JSON"), run, program);
  const { registerImport } = await import("./sheet/import.ts");
  await registerImport(group.command("import").summary("Change devices to what a CSV file says"), run, program);
  const { registerWatch } = await import("./watch/index.ts");
  await registerWatch(group.command("watch").summary("Show devices, and each change of one"), run, program);
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
