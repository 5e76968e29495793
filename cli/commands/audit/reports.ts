import type { Command } from "commander";
import { didYouMean } from "#contract/core/suggest";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { namesOf } from "../../generic/names.ts";
import { formatOf, printResult } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, takes, valued } from "../../taken-flags.ts";
import { type Bar, bars } from "./bars.ts";
import { addNarrowing, type Narrowing, rangeOf } from "./narrowing.ts";

const reports = ["user-activity", "security-events", "compliance", "stats"] as const;
type Name = (typeof reports)[number];

/** `rmm audit report`: the reports of the server, with bars for people. */
export function registerAuditReport(group: Command, run: Run): void {
  const command = group
    .command("report")
    .summary("Show who did what how often")
    .argument("<report>", reports.join(", "));
  takes(command, ...valued, ...proving, "org");
  addNarrowing(command)
    .description("Count the newest 5,000 entries of a report")
    .addHelpText("before", examples)
    .addHelpText("after", help)
    .action((name: string) =>
      run(async (shell, globals) => show(await openContext(shell, globals), name, command.opts<Narrowing>())),
    );
  const stats = takes(group.command("stats"), ...valued, ...proving, "org").summary("Count entries by kind and person");
  addNarrowing(stats)
    .description("Count the newest 5,000 entries by kind and person: the same as rmm audit report stats")
    .addHelpText("before", "Examples:\n  rmm audit stats --org contoso-dental --from 2026-03-01\n")
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => show(await openContext(shell, globals), "stats", stats.opts<Narrowing>())),
    );
}

const examples = `Examples:
  rmm audit report security-events --from 2026-03-01
  rmm audit report user-activity --org contoso-dental
  rmm audit report stats --json
`;
const help = `
Permission: audit:read
Credential: user
`;

async function show(context: Context, given: string, range: Narrowing): Promise<number> {
  const name = reports.find((one) => one === given);
  if (name === undefined) throw usageError(`There is no report ${given}${didYouMean(given, reports)}`);
  const within = rangeOf(context, range);
  const { org } = context.settings;
  const orgId = org.value === undefined ? undefined : await namesOf(context).orgId(org.value);
  const { result, numbers, chart } = await read(context, name, { ...within, orgId });
  if (formatOf(context) !== "table") {
    await printResult(context, result, { fields: [] });
    return 0;
  }
  const lines = numbers.map(([label, count]) => `${label}: ${count}`);
  const all = [...lines, ...(chart.length > 0 ? ["", ...bars(chart, context.shell.columns)] : [])];
  await writeTo(context.shell, "stdout", `${all.join("\n")}\n`);
  if (result.truncated) await context.notice(`The newest 5,000 entries, back to ${result.oldest}`);
  return 0;
}

interface Read {
  readonly result: { readonly truncated: boolean; readonly oldest: string | null };
  readonly numbers: readonly (readonly [label: string, count: number])[];
  readonly chart: readonly Bar[];
}

async function read(context: Context, name: Name, query: Narrowing & { orgId: string | undefined }): Promise<Read> {
  const { auditLogs } = await context.client();
  const options = { signal: context.shell.signal };
  if (name === "user-activity") {
    const result = await auditLogs.userActivity({ query }, options);
    const chart = result.actionsPerUser
      .slice(0, 20)
      .map(({ userName, actionCount }) => [userName, actionCount] as const);
    return {
      result,
      numbers: [
        ["Users", result.totalUsers],
        ["Entries", result.totalEvents],
      ],
      chart,
    };
  }
  if (name === "stats") {
    const result = await auditLogs.stats({ query }, options);
    const chart = result.byCategory.map(({ category, count }) => [category, count] as const);
    return { result, numbers: [["Entries", result.totalEvents]], chart };
  }
  if (name === "compliance") {
    const result = await auditLogs.compliance({ query }, options);
    const { totalEvents, dataAccess, dataChanges, exports } = result;
    const numbers = [
      ["Entries", totalEvents],
      ["Data read", dataAccess],
      ["Data changed", dataChanges],
      ["Exports", exports],
    ] as const;
    return { result, numbers, chart: chartOf(result.byAction) };
  }
  const result = await auditLogs.securityEvents({ query }, options);
  const { totalEvents, loginAttempts, failedLogins, permissionChanges } = result;
  const numbers = [
    ["Entries", totalEvents],
    ["Sign-ins", loginAttempts],
    ["Failed", failedLogins],
    ["Permissions changed", permissionChanges],
  ] as const;
  return { result, numbers, chart: chartOf(result.byAction) };
}

const chartOf = (counts: readonly { action: string; count: number }[]): Bar[] =>
  counts.map(({ action, count }) => [action, count] as const);
