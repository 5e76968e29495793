import type { Command } from "commander";
import { commandsOf } from "../../generic/commands-of.ts";
import type { Register } from "../../register.ts";
import { addEachMatch } from "./each-match.ts";
import { leftBehind } from "./left-behind.ts";
import { addListWhere } from "./list-where.ts";

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
  const specs = await commandsOf("devices");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  addListWhere(named(group, "list"), run, { list: spec("list"), query: spec("query") });
  addEachMatch(named(group, "update").addHelpText("after", updateHelp), run, { spec: spec("update") });
  addEachMatch(named(group, "remove").alias("decommission").addHelpText("after", removeHelp), run, {
    spec: spec("remove"),
  });
  addEachMatch(named(group, "move-org").alias("move").addHelpText("after", moveHelp), run, {
    spec: spec("move-org"),
    leaves: true,
    warnings: leftBehind,
  });
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
With --where every device that matches moves, after their number was confirmed:
  rmm devices move --where "siteId = 'Old office'" --org fabrikam --site HQ
`;
const updateHelp = `
With --where it changes every device that matches when the command begins:
  rmm devices update --where "hostname starts with till" --device-role iot
`;
const removeHelp = `
With --where it asks for the number of devices; --confirm gives it:
  rmm devices decommission --where "daysSinceLastSeen > 90" --confirm=12
`;
