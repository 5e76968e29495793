import type { Context } from "../context.ts";
import { missingInput, usageError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { prompterOf } from "../prompt.ts";
import { fieldValue } from "./field-value.ts";
import { type Field, fieldsOf, soleValueOf } from "./fields.ts";
import { isFilterField, sampleWhere } from "./filter-field.ts";
import { type Draft, type Invocation, withValue } from "./invocation.ts";
import { answersNeeded, deedText } from "./losses.ts";
import { lacksOwnPassword } from "./own-password.ts";
import { placeholderOf } from "./placeholder.ts";
import { scopePlaceOf } from "./refs-of.ts";
import { cleanTyped } from "./secret-flags.ts";

/** Third stage: asks for missing input, or fails and names all of it at once, with the confirmations that are needed. */
export async function completeInput(invocation: Invocation): Promise<Invocation> {
  const drafts: Draft[] = [];
  const { list, context, spec } = invocation;
  const count = invocation.drafts.length;
  const answers = list && count > 0 ? answersNeeded(context, spec, count) : [];
  if (!context.interactive && answers.length > 0) throw missingInput(answers);
  for (const given of invocation.drafts) {
    const draft = withSoleValues(spec, given);
    drafts.push(list ? checked(spec, draft) : await completed(invocation, draft));
  }
  return { ...invocation, drafts };
}

function withSoleValues(spec: CommandSpec, draft: Draft): Draft {
  const sole = missingFields(spec, draft).filter(({ spec: field }) => soleValueOf(field) !== undefined);
  return sole.reduce((at, { where, spec: field }) => withValue(at, where, field.name, soleValueOf(field)), draft);
}

/** Nobody is asked for what an entry of a list lacks: it fails by itself. */
function checked(spec: CommandSpec, draft: Draft): Draft {
  if (draft.failure !== undefined) return draft;
  const params = spec.params.filter((name) => !draft.params[name]);
  const missing = [...params, ...missingFields(spec, draft).map(({ spec: { name } }) => name)];
  try {
    if (missing.length > 0) throw missingInput(missing);
    refuseEmpty(spec, draft);
    return draft;
  } catch (failure) {
    return { ...draft, failure };
  }
}

async function completed({ context, spec, drafts }: Invocation, draft: Draft): Promise<Draft> {
  const params = spec.params.filter((name) => !draft.params[name]);
  const fields = missingFields(spec, draft);
  const answers = answersNeeded(context, spec, drafts.length);
  if (!context.interactive && params.length + fields.length + answers.length > 0) {
    const missing = [...params.map(placeholderOf), ...fields.map((field) => flagOf(spec, field)), ...answers];
    const hints = [
      ...(fields.some(({ spec: field }) => field.secret)
        ? ["Secrets are read from a file or from stdin, never from arguments"]
        : []),
      ...(lacksOwnPassword(fields.map((field) => field.spec))
        ? ["An account without a password gives --no-current-password"]
        : []),
      ...(missing.join() === "--yes" ? [deedText(spec, draft)] : []),
      ...(fields.some(isFilterField) ? [`Say which devices: --where '${sampleWhere}'`] : []),
    ];
    throw missingInput(missing, hints.length === 0 ? undefined : hints.join(". "));
  }
  let filled = draft;
  for (const name of params)
    filled = withValue(filled, "params", name, (await prompterOf(context.shell).text(placeholderOf(name))).trim());
  for (const field of fields)
    filled = withValue(filled, field.where, field.spec.name, await ask(context, field, setsPassword(spec, field)));
  refuseEmpty(spec, filled);
  return filled;
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
  if (spec.method !== "PATCH" || spec.bodyOptional || Object.values(draft.body).some((value) => value !== undefined))
    return;
  const flags = fieldsOf(spec).filter(({ where }) => where === "body");
  throw usageError("Nothing to change", `Give at least one of ${flags.map(({ flag }) => `--${flag}`).join(", ")}`);
}

function flagOf(spec: CommandSpec, asked: Field): string {
  const { spec: field, where, flag } = asked;
  if (isFilterField(asked)) return `--where (or --${flag})`;
  if (field.secret) return `--${flag}-file or --${flag}-stdin`;
  const isScope = (ref: "organization" | "site") => {
    const place = scopePlaceOf(spec, ref);
    return place?.part === where && place.name === field.name;
  };
  return isScope("organization") ? "--org" : isScope("site") ? "--site" : `--${flag}`;
}

/** A password that nobody knows yet: a mistyped one would shut its owner out. One that comes with a link is such a one. */
const setsPassword = ({ body }: CommandSpec, { spec: { name } }: Field): boolean =>
  name === "newPassword" || (name === "password" && body.some((field) => field.name === "token"));

/** The library of questions breaks longer ones inside words. */
const QUESTION_MAX = 50;

async function ask(context: Context, field: Field, sets: boolean): Promise<unknown> {
  const { spec, flag, where } = field;
  const { shell } = context;
  const prompter = prompterOf(shell);
  const label =
    flag === "link" ? "the link, or its token" : spec.name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  if (spec.secret) {
    const told = flag === "link" || spec.description === label ? undefined : spec.description;
    const more = told === undefined ? "" : ` (${told})`;
    const fits = label.length + more.length <= QUESTION_MAX;
    if (!fits) await context.notice(`${label}${more}`);
    const typed = await prompter.secret(fits ? `${label}${more}` : label);
    if (sets && (await prompter.secret(`${label} again`)) !== typed) throw usageError("The passwords differ");
    return cleanTyped(context, flag, typed);
  }
  if (spec.values) return prompter.choose(label, spec.values);
  if (spec.type === "boolean") return prompter.confirm(label);
  if (isFilterField(field)) return askFilter(context);
  const text = await prompter.text(label);
  const reading = { source: `--${flag}`, nowMs: shell.now(), where };
  if (spec.type === "array")
    return text
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
  return fieldValue(spec, text, reading);
}

/** Nobody types conditions as JSON: an expression is asked for. */
async function askFilter(context: Context): Promise<unknown> {
  const typed = await prompterOf(context.shell).text(`where, such as ${sampleWhere}`);
  const { whereFor } = await import("../where/read-where.ts");
  return (await whereFor(context, typed)).filter;
}
