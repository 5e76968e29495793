import { declined } from "../errors/cli-error.ts";
import { prompterOf } from "../prompt.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { consequenceOf, questionBefore } from "./losses.ts";
import { placeText, type Subject, subjectOf } from "./subject.ts";

/** Fifth stage: asks before a request that destroys something. Throws if the answer is no. */
export async function confirmLoss(invocation: Invocation): Promise<Invocation> {
  const { context, spec, drafts } = invocation;
  const question = context.globals.dryRun || drafts.length === 0 ? "none" : questionBefore(spec, drafts.length);
  if (question === "slug") await confirmSlug(invocation);
  if (question === "count") await confirmCount(invocation);
  if (question === "yes" && !context.globals.yes) await confirmOne(invocation);
  return invocation;
}

async function confirmOne(invocation: Invocation): Promise<void> {
  const { context, spec, drafts } = invocation;
  for (const line of (await invocation.given.warnings?.(invocation)) ?? []) await context.notice(line);
  const what = textOf(await subjectOf(invocation, drafts[0] as Draft));
  const question = `${spec.summary}${what} ${placeText(context)}?${consequenceOf(spec)}`;
  if (!(await prompterOf(context.shell).confirm(question))) throw declined("Nothing was done");
}

/** `: HQ (4444…) of Contoso Dental`. */
const textOf = ({ thing, customer }: Subject): string =>
  `${thing === undefined ? "" : `: ${thing}`}${customer === undefined ? "" : ` of ${customer}`}`;

/** Reads the tenant, so that the name and slug shown and compared are those of the row that would be deleted. */
async function confirmSlug({ context, spec, drafts }: Invocation): Promise<void> {
  const [param, ref] = Object.entries(spec.refs).find(([, one]) => one === "organization" || one === "partner") ?? [];
  if (param === undefined) throw new Error(`${spec.noun} ${spec.name} loses a tenant that its path does not name`);
  const client = await context.client();
  const tenants = ref === "partner" ? client.partners : client.organizations;
  const params = { id: (drafts[0] as Draft).params[param] as string };
  const { slug, name } = await tenants.get({ params }, { signal: context.shell.signal });
  const question = `${spec.summary}: ${name} ${placeText(context)}.${consequenceOf(spec)}. Type its slug (${slug}) to go on`;
  const typed = (context.globals.confirm ?? (await prompterOf(context.shell).text(question))).trim();
  if (typed !== slug) throw declined(`${typed} is not the slug of ${name}: nothing was done`, `Its slug is ${slug}`);
}

const NAMED_MAX = 5;

async function confirmCount(invocation: Invocation): Promise<void> {
  const { context, drafts } = invocation;
  const count = String(drafts.length);
  const answer = context.globals.confirm ?? (await prompterOf(context.shell).text(await countQuestion(invocation)));
  if (answer.trim() !== count)
    throw declined(`${count} entries would be lost: nothing was done`, `Confirm with --confirm=${count}`);
}

async function countQuestion(invocation: Invocation): Promise<string> {
  const { context, spec, drafts } = invocation;
  const named: string[] = [];
  for (const draft of drafts.filter(({ failure }) => failure === undefined).slice(0, NAMED_MAX))
    named.push(textOf(await subjectOf(invocation, draft)).replace(/^: /, ""));
  const first = [...named, ...(drafts.length > named.length ? ["…"] : [])].join("; ");
  const where = `${drafts.length} entries (${first}) ${placeText(context)}`;
  return `${spec.summary}: ${where}.${consequenceOf(spec)}. Type ${drafts.length} to go on`;
}
