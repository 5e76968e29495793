import type { Command } from "commander";
import { type Context, openContext } from "../../context.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { endpointFlags } from "../../generic/endpoint-flags.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { DEFAULT_LIMIT } from "../../generic/run-list.ts";
import type { CommandSpec } from "../../manifest.ts";
import { checkFields, isForPrograms, printResult } from "../../output/print.ts";
import { withSpinner } from "../../output/spinner.ts";
import type { Run } from "../../register.ts";
import { takes } from "../../taken-flags.ts";
import { groupCalled } from "./called.ts";
import { changeText, type MemberChange, memberChange } from "./members.ts";

const columns = ["change", "hostname", "displayName", "status", "osType", "deviceId"];

/** `rmm device-groups preview`: who would join and who would leave, with conditions that are not saved too. */
export function showsChange(command: Command, run: Run, spec: CommandSpec): void {
  takes(command, ...endpointFlags(spec), "limit", "all", "no-header", "wide").addHelpText("after", help);
  command.action((called: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const options = command.opts<Readonly<Record<string, unknown>>>();
      // The request alone, and lists of them.
      if (globals.dryRun || options["file"] !== undefined)
        return runEndpoint(context, spec, { args: [called], options, reads: true });
      return preview(context, spec, called, options);
    }),
  );
}

const help = `
It compares all who match with all who are in the group, and tells who would
join and who would leave; nothing is changed:
  rmm device-groups preview Tills --where "hostname starts with till"
`;

async function preview(
  context: Context,
  spec: CommandSpec,
  called: string | undefined,
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { globals } = context;
  checkFields(globals, { fields: isForPrograms(context) ? spec.fields : columns });
  await checkCredential(context, spec);
  const { group, change } = await withSpinner(context, "Loading", async () => {
    const found = await groupCalled(context, called, options);
    const isDynamic = found.group.type === "dynamic";
    return { ...found, change: isDynamic ? await memberChange(context, found.group, found.where) : undefined };
  });
  // The server says why not.
  if (change === undefined) return runEndpoint(context, spec, { args: [group.id], options, reads: true });
  if (isForPrograms(context)) {
    const { id, name } = group;
    await printResult(context, { data: { group: { id, name }, ...change } }, { fields: spec.fields });
    return 0;
  }
  const rows = rowsOf(change);
  const shown = globals.all ? rows : rows.slice(0, globals.limit ?? DEFAULT_LIMIT);
  await printResult(context, shown, { fields: columns, columns, keep: ["change", "hostname"] });
  await context.notice(changeText(group, change));
  if (shown.length < rows.length)
    await context.notice(
      `${shown.length.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")}; use --all`,
    );
  return 0;
}

const rowsOf = ({ joins, leaves }: MemberChange) => [
  ...joins.map(({ id, hostname, displayName, status, osType }) => ({
    ...{ change: "joins", hostname, displayName, status, osType, deviceId: id },
  })),
  ...leaves.map(({ deviceId, hostname, displayName, status, osType }) => ({
    ...{ change: "leaves", hostname, displayName, status, osType, deviceId },
  })),
];
