import type { Context } from "../context.ts";
import { missingInput, usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { prompterOf } from "../prompt.ts";
import type { Draft } from "./draft.ts";
import { fieldValue } from "./field-value.ts";
import { type Field, fieldsOf } from "./fields.ts";

/** `<contact-id>` of `contactId`. */
export const placeholderOf = (param: string): string => `<${param.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()}>`;

/** Asks for what is still missing, or fails naming all of it at once; `answers` are questions that need a yes. */
export async function completeDraft(
  context: Context,
  spec: CommandSpec,
  draft: Draft,
  answers: readonly string[],
): Promise<void> {
  const params = spec.params.filter((name) => !draft.params[name]);
  const fields = missingFields(spec, draft);
  if (!context.interactive && params.length + fields.length + answers.length > 0) {
    const missing = [...params.map(placeholderOf), ...fields.map(flagOf), ...answers];
    const secret = fields.some(({ spec: field }) => field.secret);
    throw missingInput(
      missing,
      secret ? "Secrets are read from a file or from stdin, never from arguments" : undefined,
    );
  }
  for (const name of params) draft.params[name] = (await prompterOf(context.shell).text(placeholderOf(name))).trim();
  for (const field of fields) draft[field.where][field.spec.name] = await ask(context, field);
  refuseEmpty(spec, draft);
}

const missingFields = (spec: CommandSpec, draft: Draft): Field[] => {
  const bodyIsSent = draft.hasBody || Object.keys(draft.body).length > 0;
  return fieldsOf(spec).filter(
    ({ spec: field, where }) =>
      field.required && draft[where][field.name] === undefined && (where === "query" || bodyIsSent),
  );
};

/** A change that changes nothing is a mistake. */
function refuseEmpty(spec: CommandSpec, draft: Draft): void {
  if (spec.method !== "PATCH" || Object.values(draft.body).some((value) => value !== undefined)) return;
  const flags = fieldsOf(spec).filter(({ where }) => where === "body");
  throw usageError("Nothing to change", `Give at least one of ${flags.map(({ flag }) => `--${flag}`).join(", ")}`);
}

function flagOf({ spec, flag }: Field): string {
  if (spec.secret) return `--${flag}-file or --${flag}-stdin`;
  return spec.name === "orgId" ? "--org" : `--${flag}`;
}

async function ask({ shell }: Context, { spec, flag, where }: Field): Promise<unknown> {
  const prompter = prompterOf(shell);
  const label = spec.name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  if (spec.secret) {
    const secret = await prompter.secret(label);
    shell.secrets.add(secret);
    return secret;
  }
  if (spec.values) return prompter.choose(label, spec.values);
  if (spec.type === "boolean") return prompter.confirm(label);
  const text = await prompter.text(label);
  const reading = { source: `--${flag}`, nowMs: shell.now(), where };
  if (spec.type === "array")
    return text
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
  return fieldValue(spec, text, reading);
}
