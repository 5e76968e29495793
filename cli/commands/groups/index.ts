import type { Command } from "commander";
import type { DeviceGroupDetail } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../context.ts";
import { declined, missingInput } from "../../errors/cli-error.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { type Draft, withValue } from "../../generic/invocation.ts";
import { namesOf } from "../../generic/names.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { placeText } from "../../generic/subject.ts";
import type { CommandSpec } from "../../manifest.ts";
import { withSpinner } from "../../output/spinner.ts";
import { prompterOf } from "../../prompt.ts";
import type { Register, Run } from "../../register.ts";
import { pointing } from "../../where/pointing.ts";
import { groupCalled } from "./called.ts";
import { changeText, memberChange } from "./members.ts";
import { showsChange } from "./preview.ts";

const named = (group: Command, name: string): Command => group.commands.find((one) => one.name() === name)!;

/** Who joins and who leaves, told before a group gets other conditions. */
export const extendDeviceGroups: Register = async (group, run) => {
  const specs = await commandsOf("device-groups");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  makesDynamic(named(group, "create"), run, spec("create"));
  asksBefore(named(group, "update"), run, spec("update"));
  showsChange(named(group, "preview"), run, spec("preview"));
  named(group, "devices").alias("members");
  group.addHelpText(
    "after",
    "\nWho is in a group: rmm device-groups devices <group>; members is the same.\n\nAlso: groups is short for device-groups.\n",
  );
};

function makesDynamic(command: Command, run: Run, spec: CommandSpec): void {
  command.addHelpText("after", createHelp);
  command.action(() =>
    run(async (shell, globals) => {
      const options = command.opts<Record<string, unknown>>();
      const dynamic = options["where"] === undefined || options["type"] !== undefined ? {} : { type: "dynamic" };
      const given = { args: [], options: { ...options, ...dynamic }, completed: madeDynamic };
      return runEndpoint(await openContext(shell, globals), spec, given);
    }),
  );
}

/** An entry of a file that has an expression is dynamic, as with the flag. */
const madeDynamic = async (draft: Draft): Promise<Draft> =>
  draft.where === undefined || draft.body["type"] !== undefined ? draft : withValue(draft, "body", "type", "dynamic");

const createHelp = `
With --where the group is dynamic, and every device that matches joins; where
there are more than 1,000, within ten seconds after the answer:
  rmm device-groups create --name Tills --where "hostname starts with till"
`;

/** Of one group; the conditions that were shown are those that are sent. */
function asksBefore(command: Command, run: Run, spec: CommandSpec): void {
  command.addHelpText("after", updateHelp);
  command.action((called: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const { where: expression, ...options } = command.opts<Record<string, unknown>>();
      if (expression === undefined || options["file"] !== undefined || globals.dryRun)
        return runEndpoint(context, spec, { args: [called], options: command.opts() });
      const { text, group, where, siteId } = await withSpinner(context, "Loading", async () => {
        const found = await groupCalled(context, called, { ...options, where: expression });
        // The server says why a static group gets none.
        if (found.group.type !== "dynamic") return { ...found, text: undefined, siteId: undefined };
        const siteId = await siteAfter(context, found.group, options);
        const change = await memberChange(context, found.group, found.where, siteId);
        return { ...found, text: changeText(found.group, change), siteId };
      });
      if (text === undefined) return runEndpoint(context, spec, { args: [group.id], options: command.opts() });
      if (!globals.yes) {
        if (!context.interactive) throw missingInput(["--yes"], `It would do this: ${text}`);
        await context.notice(text);
        if (!(await prompterOf(shell).confirm(`Change the group ${group.name} ${placeText(context)}?`)))
          throw declined("Nothing was changed");
      } else await context.notice(text);
      const filterConditions = JSON.stringify(where!.filter);
      // The site that was looked at, where several have its name.
      const place = options["siteId"] === undefined ? {} : { siteId };
      return pointing(context, where!, () =>
        runEndpoint(context, spec, { args: [group.id], options: { ...options, ...place, filterConditions } }),
      );
    }),
  );
}

/** The site that the group would have. */
async function siteAfter(
  context: Context,
  { orgId, siteId }: DeviceGroupDetail,
  { siteId: given, clear = [] }: Readonly<Record<string, unknown>>,
): Promise<string | null> {
  const cleared = (clear as string[]).flatMap((one) => one.split(",")).map((one) => one.trim());
  if (cleared.includes("site-id") || cleared.includes("siteId")) return null;
  return given === undefined ? siteId : namesOf(context).siteId(String(given), orgId);
}

const updateHelp = `
With --where it tells who joins and who leaves, and asks; --yes answers:
  rmm device-groups update Tills --where "hostname starts with till-"
`;
