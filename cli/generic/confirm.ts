import type { Context } from "../context.ts";
import { declined, usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { prompterOf } from "../prompt.ts";

const destructiveVerbs = new Set(["remove", "revoke", "rotate", "disable"]);

/** True where what is lost cannot be had back by another call. */
export const isDestructive = ({ method, name, noun }: CommandSpec): boolean =>
  method === "DELETE" || destructiveVerbs.has(name) || (noun === "mfa" && name === "recovery-codes");

/** Takes a whole tenant with it: `--yes` is not enough. */
export const isSevere = ({ noun, name }: CommandSpec): boolean =>
  name === "remove" && (noun === "organizations" || noun === "partners");

/** What must be given on the command line if no one can be asked. */
export function neededAnswers({ globals }: Context, spec: CommandSpec, count: number): string[] {
  if (globals.dryRun || !isDestructive(spec)) return [];
  if (isSevere(spec)) return globals.confirm === undefined ? ["--confirm=<slug>"] : [];
  if (isRevokeInBulk(spec, count)) return globals.confirm === undefined ? [`--confirm=${count}`] : [];
  return globals.yes ? [] : ["--yes"];
}

const isRevokeInBulk = ({ name, method }: CommandSpec, count: number): boolean =>
  count > 1 && (name === "revoke" || method === "DELETE");

/** Asks before something is lost. `id` is looked up for its slug where the slug has to be typed. */
export async function confirmLoss(context: Context, spec: CommandSpec, ids: readonly string[]): Promise<void> {
  if (!isDestructive(spec)) return;
  if (isSevere(spec)) return confirmSlug(context, spec, ids);
  const { globals, shell } = context;
  if (isRevokeInBulk(spec, ids.length)) return confirmCount(context, spec, ids.length);
  if (globals.yes) return;
  const what = ids.length === 0 ? "" : ` (${ids.length === 1 ? ids[0] : `${ids.length} entries`})`;
  if (!(await prompterOf(shell).confirm(`${spec.summary}${what}?`))) throw declined("Nothing was done");
}

async function confirmSlug(context: Context, spec: CommandSpec, ids: readonly string[]): Promise<void> {
  const [id] = ids;
  if (id === undefined || ids.length > 1) throw usageError(`\`${spec.noun} ${spec.name}\` takes one at a time`);
  const client = await context.client();
  const noun = spec.noun === "partners" ? client.partners : client.organizations;
  const { slug, name } = await noun.get({ params: { id } }, { signal: context.shell.signal });
  const typed =
    context.globals.confirm ??
    (await prompterOf(context.shell).text(`${spec.summary} ${name}. Type its slug (${slug}) to go on`));
  if (typed.trim() !== slug)
    throw declined(`${typed.trim()} is not the slug of ${name}: nothing was done`, `Its slug is ${slug}`);
}

async function confirmCount(context: Context, spec: CommandSpec, count: number): Promise<void> {
  const typed =
    context.globals.confirm ??
    (await prompterOf(context.shell).text(`${spec.summary}: ${count} entries. Type ${count} to go on`));
  if (typed.trim() !== String(count))
    throw declined(`${count} entries would be lost: nothing was done`, `Confirm with --confirm=${count}`);
}
