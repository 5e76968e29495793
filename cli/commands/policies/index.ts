import type { Command } from "commander";
import type { ConfigurationPolicy, EffectiveSettings } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { namesOf } from "../../generic/names.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import { formatOf, printResult } from "../../output/print.ts";
import type { Register, Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { settingRows } from "./settings-rows.ts";
import { withTargets } from "./targets.ts";

/** Settings a line each on a terminal, and names for the targets of assignments. */
export const extendConfigurationPolicies: Register = async (group, run) => {
  const specs = await commandsOf("configuration-policies");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  const named = (name: string) => group.commands.find((one) => one.name() === name)!;
  for (const name of ["create", "replace", "update"]) takesNames(named(name), run, spec(name));
  shows(named("get").alias("show"), run, spec("get"), showPolicy);
  shows(named("deactivate"), run, spec("deactivate"), showPolicy);
  shows(named("effective"), run, spec("effective"), showEffective);
};

function takesNames(command: Command, run: Run, spec: CommandSpec): void {
  command.addHelpText("after", targetHelp).action((called: unknown) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const names = namesOf(context);
      const args = spec.params.map(() => called as string | undefined);
      const completed = (draft: Parameters<typeof withTargets>[2]) => withTargets(context, names, draft);
      const print = printing(context, spec, showPolicy);
      return runEndpoint(context, spec, { args, options: command.opts(), completed, print });
    }),
  );
}

const targetHelp = `
Targets of assignments are ids or names, with their organization before them
where it is another one:
  assignments:
    - {level: site, targetId: HQ}
    - {level: device_group, targetId: contoso-dental/Tills}
`;

type Show<R> = (context: Context, result: R) => Promise<void>;

function shows<R>(command: Command, run: Run, spec: CommandSpec, show: Show<R>): void {
  command.action((called: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const print = printing(context, spec, show);
      return runEndpoint(context, spec, { args: [called], options: command.opts(), print });
    }),
  );
}

/** Programs get the answer as it is, and so does who names columns. */
const printing =
  <R>(context: Context, spec: CommandSpec, show: Show<R>) =>
  (result: unknown): Promise<void> =>
    formatOf(context) === "table" && context.globals.columns === undefined
      ? show(context, result as R)
      : printResult(context, result, { fields: spec.fields });

async function showPolicy(context: Context, policy: ConfigurationPolicy): Promise<void> {
  const { features, assignments, ...plain } = policy;
  await printResult(context, plain, { fields: [] });
  const rows = features.flatMap(({ type, settings }) => settingRows(type, settings));
  await below(context, rows, ["setting", "value"]);
  await below(context, assignments, ["level", "targetName", "priority", "roleFilter", "osFilter", "targetId"]);
}

/** A second table, with a blank line above it. */
async function below(context: Context, rows: readonly object[], columns: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  await writeTo(context.shell, "stdout", "\n");
  await printResult(context, rows, { fields: columns, columns });
}

async function showEffective(context: Context, { effective }: EffectiveSettings): Promise<void> {
  const rows = Object.entries(effective).flatMap(([type, one]) => {
    const from = one.sourceLevel === "default" ? "default" : `${one.sourcePolicyName ?? "?"} (${one.sourceLevel})`;
    const settings = one.settings === null ? [{ setting: type, value: "none" }] : settingRows(type, one.settings);
    return settings.map((row) => ({ ...row, from }));
  });
  const columns = ["setting", "value", "from"];
  await printResult(context, rows, { fields: columns, columns });
}
