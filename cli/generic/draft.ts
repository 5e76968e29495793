import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { didYouMean } from "../suggest.ts";
import { arrayValue, fieldValue } from "./field-value.ts";
import { attributeOf, type Field, fieldsOf } from "./fields.ts";
import type { Given, Item } from "./read-items.ts";

type Options = Readonly<Record<string, unknown>>;

/** A call in the making: what was given so far, names not yet resolved. */
export interface Draft {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  /** True where a body is sent even when nothing stands in it. */
  hasBody: boolean;
}

/** Reads the flags that were given. Secrets were read before and come in. */
export function draftOfFlags(
  context: Context,
  spec: CommandSpec,
  args: readonly (string | undefined)[],
  options: Options,
  secrets: ReadonlyMap<string, string>,
): Draft {
  const draft: Draft = { params: {}, query: {}, body: {}, hasBody: spec.hasBody && !spec.bodyOptional };
  spec.params.forEach((name, index) => {
    const value = args[index]?.trim();
    if (value) draft.params[name] = value;
  });
  for (const field of fieldsOf(spec)) {
    const value = valueOfFlag(context, field, options, secrets);
    if (value !== undefined) draft[field.where][field.spec.name] = value;
  }
  for (const name of clearedOf(spec, options)) draft.body[name] = null;
  return draft;
}

function valueOfFlag(
  { shell }: Context,
  { spec, where, flag }: Field,
  options: Options,
  secrets: ReadonlyMap<string, string>,
): unknown {
  if (spec.secret) return secrets.get(flag);
  const given = options[attributeOf(flag)];
  if (given === undefined) return undefined;
  if (typeof given === "boolean") return given;
  const reading = { source: `--${flag}`, nowMs: shell.now(), where };
  return Array.isArray(given) ? arrayValue(spec, given as string[], reading) : fieldValue(spec, String(given), reading);
}

/** `--clear contract-end,notes`: an explicit null. */
function clearedOf(spec: CommandSpec, options: Options): string[] {
  const clearable = spec.body.filter(({ nullable }) => nullable);
  const given = ((options["clear"] as string[] | undefined) ?? []).flatMap((one) => one.split(","));
  return given
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .map((name) => {
      const found = clearable.find((one) => one.name === name || one.flag === name);
      if (found) return found.name;
      const names = clearable.map(({ flag }) => flag);
      throw usageError(`--clear: ${name} cannot be emptied${didYouMean(name, names)}`, `Fields: ${names.join(", ")}`);
    });
}

const aliases: Record<string, string> = { org: "orgId", organization: "orgId", site: "siteId" };

/** Joins the entries of a file with the flags; a flag wins over an entry. */
export function draftsOfItems(context: Context, spec: CommandSpec, given: Given, flags: Draft): Draft[] {
  const known = [...spec.params, ...spec.body.map(({ name }) => name)];
  const unknown = new Set(
    given.items.flatMap((item) => Object.keys(item)).filter((key) => !known.includes(nameOf(key, known))),
  );
  if (unknown.size > 0) {
    const named = [...unknown].map((key) => `${key}${didYouMean(key, known)}`).join(", ");
    throw usageError(`The input has fields this command does not know: ${named}`, `Fields: ${known.join(", ")}`);
  }
  return given.items.map((item, index) => draftOfItem(context, spec, given, flags, item, index));
}

const nameOf = (key: string, known: readonly string[]): string => {
  const name = aliases[key];
  return name !== undefined && !known.includes(key) ? name : key;
};

function draftOfItem(
  context: Context,
  spec: CommandSpec,
  given: Given,
  flags: Draft,
  item: Item,
  index: number,
): Draft {
  const draft: Draft = { params: {}, query: { ...flags.query }, body: {}, hasBody: flags.hasBody };
  const known = [...spec.params, ...spec.body.map(({ name }) => name)];
  for (const [key, value] of Object.entries(item)) {
    const name = nameOf(key, known);
    const field = spec.body.find((one) => one.name === name);
    if (given.textual && value === "") continue;
    if (spec.params.includes(name)) {
      if (typeof value === "string" || typeof value === "number") draft.params[name] = String(value);
    } else if (field && given.textual) {
      draft.body[name] = cell(context, field, String(value), `entry ${index + 1}, ${key}`);
    } else draft.body[name] = value;
  }
  Object.assign(draft.params, flags.params);
  Object.assign(draft.body, flags.body);
  return draft;
}

function cell({ shell }: Context, field: CommandSpec["body"][number], text: string, source: string): unknown {
  const reading = { source, nowMs: shell.now(), where: "body" as const };
  return field.type === "array"
    ? arrayValue(field, [text.replaceAll(";", ",")], reading)
    : fieldValue(field, text, reading);
}
