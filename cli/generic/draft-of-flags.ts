import { didYouMean } from "#contract/core/suggest";
import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { arrayValue, fieldValue } from "./field-value.ts";
import { type Field, fieldsOf, givenTo } from "./fields.ts";
import type { Draft } from "./invocation.ts";

type Options = Readonly<Record<string, unknown>>;

/** The draft that arguments and flags give. Secrets are read before and passed in. */
export function draftOfFlags(
  context: Context,
  spec: CommandSpec,
  args: readonly (string | undefined)[],
  options: Options,
  secrets: ReadonlyMap<string, string>,
): Draft {
  const params: Record<string, string> = {};
  spec.params.forEach((name, index) => {
    const value = args[index]?.trim();
    if (value) params[name] = value;
  });
  const parts: Record<"query" | "body", Record<string, unknown>> = { query: {}, body: {} };
  for (const field of fieldsOf(spec)) {
    const value = valueOfFlag(context, field, options, secrets);
    if (value !== undefined) parts[field.where][field.spec.name] = value;
  }
  for (const name of clearedOf(spec, options)) parts.body[name] = null;
  return { params, ...parts, hasBody: spec.hasBody && !spec.bodyOptional };
}

function valueOfFlag(
  { shell }: Context,
  field: Field,
  options: Options,
  secrets: ReadonlyMap<string, string>,
): unknown {
  const { spec, where, flag } = field;
  if (spec.secret) return secrets.get(flag);
  const given = givenTo(field, options);
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
