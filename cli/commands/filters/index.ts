import type { Command } from "commander";
import { openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { endpointFlags } from "../../generic/endpoint-flags.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import type { Register, Run } from "../../register.ts";
import { takes } from "../../taken-flags.ts";
import { registerExplain } from "./explain.ts";
import { registerFields } from "./fields.ts";
import { registerSave } from "./save.ts";
import { previewFields, showPreview, withLimit } from "./show-preview.ts";

const named = (group: Command, name: string): Command => group.commands.find((one) => one.name() === name)!;

/** Loaded when they are called, or when all are shown. */
const written: Readonly<Record<string, { readonly summary: string; readonly register: Register }>> = {
  explain: { summary: "Turn an expression into conditions, or back", register: registerExplain },
  fields: { summary: "List the fields of filters", register: registerFields },
  save: { summary: "Save an expression as a filter", register: registerSave },
};

/** Previews as a table with a total, and what no endpoint does. */
export const extendSavedFilters: Register = async (group, run, program) => {
  const specs = await commandsOf("saved-filters");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  showsPreview(named(group, "preview"), run, spec("preview"));
  showsPreview(named(group, "preview-saved").alias("run"), run, spec("preview-saved"));
  for (const [name, { summary, register }] of Object.entries(written)) {
    const command = group.command(name).summary(summary);
    if (program.called === undefined || program.called === name) await register(command, run, program);
  }
  group.addHelpText("after", "\nAlso: run is preview-saved; filters is short for saved-filters.\n");
};

function showsPreview(command: Command, run: Run, spec: CommandSpec): void {
  takes(command, ...endpointFlags(spec), "limit", "no-header", "wide").addHelpText("after", help);
  command.action((id: unknown) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const options = withLimit(context, spec, command.opts());
      const args = spec.params.map(() => id as string | undefined);
      // A list of them is reported as any list is.
      if (options["file"] !== undefined) return runEndpoint(context, spec, { args, options });
      const shown = { ...spec, fields: previewFields(context, spec) };
      const finish = (result: unknown) => showPreview(context, spec, result);
      return runEndpoint(context, shown, { args, options, finish, reads: true });
    }),
  );
}

const help = `
--limit is how many are shown, 1 to 100. rmm devices list --where lists all.
`;
