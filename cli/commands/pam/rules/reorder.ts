import type { Command } from "commander";
import type { ListedPamRule } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../../context.ts";
import { declined, missingInput, usageError } from "../../../errors/cli-error.ts";
import { exitCode } from "../../../errors/exit-codes.ts";
import { checkCredential } from "../../../generic/check-credential.ts";
import { endpointFlags } from "../../../generic/endpoint-flags.ts";
import { accessOf } from "../../../generic/help-text.ts";
import { outcomeColumns, outcomeFields } from "../../../generic/item-outcome.ts";
import { namesOf } from "../../../generic/names.ts";
import { runEndpoint } from "../../../generic/run-endpoint.ts";
import { placeText } from "../../../generic/subject.ts";
import { encodingOption } from "../../../input/read-text.ts";
import type { CommandSpec } from "../../../manifest.ts";
import { checkFields, isForPrograms } from "../../../output/print.ts";
import { prompterOf } from "../../../prompt.ts";
import type { Run } from "../../../register.ts";
import { takes } from "../../../taken-flags.ts";
import { newPriorities } from "./new-priorities.ts";
import { namesIn } from "./order-file.ts";
import { rulesOfOrg, theRule } from "./rules-of-org.ts";

interface Options {
  readonly before?: string;
  readonly after?: string;
  readonly first?: boolean;
  readonly last?: boolean;
  readonly file?: string;
  readonly encoding?: string;
}

/** `rmm pam rules reorder`: moves a rule, or brings all of an organization into the order of a file. */
export function registerReorder(command: Command, run: Run, update: CommandSpec): void {
  takes(command, ...endpointFlags(update), "org")
    .description("Change the order in which the rules of an organization are asked")
    .argument("[rule]", "name or id of the rule to move")
    .usage("<rule> <place>, or -f <file> [flags]")
    .option("--before <rule>", "move it to just before this one")
    .option("--after <rule>", "move it to just behind this one")
    .option("--first", "ask it before all others")
    .option("--last", "ask it after all others")
    .option("-f, --file <path>", "names or ids of all rules in their order, one a line or as a list, or -")
    .option(...encodingOption)
    .addHelpText("before", examples)
    .addHelpText("after", () => `${help}\n${accessOf(update)}`)
    .action((rule: string | undefined) =>
      run(async (shell, globals) => reorder(await openContext(shell, globals), update, rule, command.opts<Options>())),
    );
}

const examples = `Examples:
  rmm pam rules reorder "Deny games" --first
  rmm pam rules reorder "Known installers" --before "Ask for the rest"
  rmm pam rules list --org contoso-dental --columns name > order.txt
  rmm pam rules reorder --org contoso-dental -f order.txt
`;
const help = `
It shows which priorities change before it asks, and reports each. Rules decide
between two changes too: no rule is overtaken on the way by one that stands
behind it before and after. It ends where a change fails, and the same command
finishes it. A file names every rule of the organization.
`;

async function reorder(context: Context, update: CommandSpec, called: string | undefined, options: Options) {
  const { globals } = context;
  checkPlace(called, options);
  checkFields(globals, { fields: isForPrograms(context) ? outcomeFields : outcomeColumns(update, {}) });
  await checkCredential(context, update);
  const wanted = options.file === undefined ? undefined : await namesIn(context, options.file, options.encoding);
  const org = context.settings.org.value;
  const rules = await rulesOfOrg(context, org ? await namesOf(context).orgId(org) : undefined);
  const order = wanted === undefined ? moved(rules, called as string, options) : listed(rules, wanted);
  const priorities = newPriorities(order);
  if (priorities.size === 0) {
    await context.notice("The rules are in this order already");
    return exitCode("ok");
  }
  for (const rule of order.filter(({ id }) => priorities.has(id)))
    await context.notice(changeText(rule, priorities, { rules, order }));
  if (!globals.yes && !globals.dryRun) {
    const question = `Change the priority of ${priorities.size} of ${rules.length} rules ${placeText(context)}`;
    if (!context.interactive) throw missingInput(["--yes"], `It would do this: ${question}`);
    if (!(await prompterOf(context.shell).confirm(`${question}?`))) throw declined("Nothing was changed");
  }
  const names = new Map(order.map(({ id, name }) => [id, name]));
  const each = [...priorities].map(([id, priority]) => {
    return { args: [id], called: names.get(id) as string, options: { priority: String(priority) } };
  });
  return runEndpoint(context, update, { args: [], options: {}, each, inOrder: true });
}

function checkPlace(called: string | undefined, { before, after, first, last, file }: Options): void {
  const places = [before, after, first, last].filter((one) => one !== undefined).length;
  if (file !== undefined && (called !== undefined || places > 0))
    throw usageError("Use either --file or a rule and its place");
  if (file === undefined && called === undefined)
    throw missingInput(["<rule>", "--before, --after, --first or --last"]);
  if (file === undefined && places === 0) throw missingInput(["--before, --after, --first or --last"]);
  if (places > 1) throw usageError("Use one of --before, --after, --first and --last");
}

function moved(rules: readonly ListedPamRule[], called: string, { before, after, first }: Options): ListedPamRule[] {
  const rule = theRule(called, rules);
  const others = rules.filter(({ id }) => id !== rule.id);
  const named = before ?? after;
  if (named === undefined) return first ? [rule, ...others] : [...others, rule];
  const anchor = theRule(named, rules);
  if (anchor.id === rule.id) throw usageError(`${rule.name} cannot stand beside itself`);
  const at = others.indexOf(anchor) + (before === undefined ? 1 : 0);
  return others.toSpliced(at, 0, rule);
}

/** Whatever a file leaves out would end up somewhere that nobody chose. */
function listed(rules: readonly ListedPamRule[], wanted: readonly string[]): ListedPamRule[] {
  const order = wanted.map((one) => theRule(one, rules));
  const twice = order.find((rule, at) => order.indexOf(rule) !== at);
  if (twice !== undefined) throw usageError(`${twice.name} stands there twice`);
  const left = rules.filter((rule) => !order.includes(rule));
  if (left.length > 0)
    throw usageError(
      `The file leaves out ${left.map(({ name }) => name).join(", ")}`,
      "It names every rule of the organization",
    );
  return order;
}

function changeText(
  rule: ListedPamRule,
  priorities: ReadonlyMap<string, number>,
  { rules, order }: { rules: readonly ListedPamRule[]; order: readonly ListedPamRule[] },
): string {
  const [was, is] = [rules.indexOf(rule) + 1, order.indexOf(rule) + 1];
  const place = was === is ? `stays ${is} of ${rules.length}` : `${was} -> ${is} of ${rules.length}`;
  return `${rule.name}: ${place}, priority ${rule.priority} -> ${priorities.get(rule.id)}`;
}
