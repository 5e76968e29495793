import type { Command } from "commander";
import type { ListedPamRule } from "#sdk/generated/models/index";
import { openContext } from "../../../context.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import { runEndpoint } from "../../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../../manifest.ts";
import type { Register, Run } from "../../../register.ts";
import { registerReorder } from "./reorder.ts";
import { type Preview, showPreview } from "./show-preview.ts";
import { summaryOf } from "./summary.ts";
import { registerTest } from "./test-rule.ts";

/** What each rule matches, beside the commands of the endpoints. */
export const extendPamRules: Register = async (group, run, program) => {
  const specs = await commandsOf("pam-rules");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  const list = group.commands.find((one) => one.name() === "list")!;
  const columns = ["priority", "name", "verdict", "enabled", "matches", "suspendedVerdict", "id"];
  const more = (rule: ListedPamRule) => ({ matches: summaryOf(rule) });
  list.action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      return runEndpoint(context, spec("list"), { args: [], options: list.opts(), view: { columns, more } });
    }),
  );
  const preview = group.commands.find((one) => one.name() === "preview")!;
  preview.action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const print = (result: unknown) => showPreview(context, result as Preview, spec("preview").fields);
      return runEndpoint(context, spec("preview"), { args: [], options: preview.opts(), reads: true, print });
    }),
  );
  for (const [name, { summary, register }] of Object.entries(written)) {
    const command = group.command(name).summary(summary);
    if (program.called === undefined || program.called === name) register(command, run, spec);
  }
};

type Spec = (verb: string) => CommandSpec;

const written: Readonly<Record<string, { summary: string; register(command: Command, run: Run, spec: Spec): void }>> = {
  test: {
    summary: "Show whether a rule would match one request",
    register: (command, run, spec) => registerTest(command, run, spec("preview")),
  },
  reorder: {
    summary: "Change the order in which rules are asked",
    register: (command, run, spec) => registerReorder(command, run, spec("update")),
  },
};
