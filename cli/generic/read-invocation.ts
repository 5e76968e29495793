import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { spellingOf } from "../noun-aliases.ts";
import { draftOfFlags } from "./draft-of-flags.ts";
import { fieldsOf } from "./fields.ts";
import type { Arguments, Draft, Invocation } from "./invocation.ts";
import { namesOf } from "./names.ts";
import type { Given } from "./read-items.ts";
import { readSecrets } from "./secret-flags.ts";

/** First stage: reads arguments, flags, secrets and the input file. Sends nothing. */
export async function readInvocation(context: Context, spec: CommandSpec, given: Arguments): Promise<Invocation> {
  const { options, args, each } = given;
  const path = options["file"] as string | undefined;
  // Loaded for a file alone, for speed.
  const files = path === undefined ? undefined : await import("./read-items.ts");
  const items = await files?.readItems(context.shell, path as string, options["encoding"] as string | undefined);
  const secretFlags = fieldsOf(spec).filter((field) => field.spec.secret);
  const names = secretFlags.map(({ flag }) => flag);
  const secrets = given.secrets ?? (await readSecrets(context, names, options));
  const draftOf = (one: Arguments["args"], more = {}) =>
    draftOfFlags(context, spec, one, { ...options, ...more }, secrets);
  if (items !== undefined && each !== undefined) throw usageError("Use either --file or several ids");
  const named = each?.map(({ args: own, called, options: more }) => ({ ...draftOf(own, more), called }));
  const several = items === undefined ? named : await draftsOfFile(context, spec, items, draftOf(args));
  const drafts = several ?? [draftOf(args)];
  const list = items?.list === true || each !== undefined;
  if (list && options["secretFile"] !== undefined)
    throw usageError("--secret-file takes one secret, not a list", "--secret-dir takes a file for each");
  if (!list && options["secretDir"] !== undefined)
    throw usageError("--secret-dir goes with a list, and --secret-file takes one secret");
  if (list && (spec.loses === "tenant" || given.finish !== undefined))
    throw usageError(`\`${context.globals.line ?? `${spellingOf(spec.noun)} ${spec.name}`}\` takes one at a time`);
  return { context, spec, given, drafts, list, names: namesOf(context) };
}

async function draftsOfFile(context: Context, spec: CommandSpec, items: Given, flags: Draft): Promise<Draft[]> {
  const { draftsOfItems } = await import("./drafts-of-items.ts");
  return draftsOfItems(context, spec, items, flags);
}
