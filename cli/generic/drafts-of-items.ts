import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { spreadsheetFault } from "../input/spreadsheet.ts";
import { jsonAsWritten, textAsWritten } from "../input/written.ts";
import type { CommandSpec } from "../manifest.ts";
import { didYouMean } from "../suggest.ts";
import { arrayValue, fieldValue } from "./field-value.ts";
import type { Draft } from "./invocation.ts";
import type { Given, Item } from "./read-items.ts";
import { refsOf } from "./refs-of.ts";

/** Joins the entries of a file with the flags; a flag wins over an entry. */
export function draftsOfItems(context: Context, spec: CommandSpec, given: Given, flags: Draft): Draft[] {
  const nameOf = namesIn(spec);
  const unknown = new Set(given.items.flatMap((item) => Object.keys(item)).filter((key) => nameOf(key) === undefined));
  if (unknown.size > 0) {
    const known = knownOf(spec);
    const named = [...unknown].map((key) => `${key}${didYouMean(key, known)}`).join(", ");
    throw usageError(`The input has fields this command does not know: ${named}`, `Fields: ${known.join(", ")}`);
  }
  return given.items.map((item, index) => draftOfItem(context, spec, { ...given, nameOf }, flags, { item, index }));
}

const knownOf = (spec: CommandSpec): string[] => [...spec.params, ...spec.body.map(({ name }) => name)];

const shortNames = [
  ["organization", ["org", "organization"]],
  ["site", ["site"]],
  ["partner", ["partner"]],
] as const;

/** The parameter or field that a key of an entry sets; `organization` and its like set the one that names such a row. */
function namesIn(spec: CommandSpec): (key: string) => string | undefined {
  const known = knownOf(spec);
  const places = refsOf(spec).filter(({ part, holds }) => part !== "query" && holds === "one");
  const short = new Map<string, string>(
    shortNames.flatMap(([ref, keys]) => {
      // The last one is in the body if there is one: a parameter may be the id of the thing itself.
      const place = places.findLast((one) => one.ref === ref);
      return place === undefined ? [] : keys.map((key) => [key, place.name] as const);
    }),
  );
  return (key) => (known.includes(key) ? key : short.get(key));
}

function draftOfItem(
  context: Context,
  spec: CommandSpec,
  { textual, placeOf, nameOf }: Given & { nameOf(key: string): string | undefined },
  flags: Draft,
  { item, index }: { item: Item; index: number },
): Draft {
  const params: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(item)) {
    const name = nameOf(key) as string;
    const field = spec.body.find((one) => one.name === name);
    if (textual && value === "") continue;
    const place = () => placeOf(index, key);
    const fault = textual ? spreadsheetFault(String(value)) : undefined;
    if (fault !== undefined) throw usageError(`${place()}: "${String(value)}" ${fault}`);
    if (spec.params.includes(name)) {
      const text = textAsWritten(value);
      if (typeof text === "string") params[name] = text;
    } else if (field && textual) body[name] = cell(context, field, String(value), place());
    else body[name] = field ? fieldOfType(field, value, place) : value;
  }
  return { ...flags, params: { ...params, ...flags.params }, body: { ...body, ...flags.body } };
}

/** Text as it is written, everything else in the types of JSON. */
function fieldOfType(field: CommandSpec["body"][number], value: unknown, place: () => string): unknown {
  const isText = (type: string | undefined) => type === "string" || type === "enum";
  if (isText(field.type)) return textAsWritten(value);
  if (field.type === "array" && Array.isArray(value) && isText(field.itemType)) return value.map(textAsWritten);
  return jsonAsWritten(value, (_steps, message) => {
    throw usageError(`${place()}: ${message}`);
  });
}

function cell({ shell }: Context, field: CommandSpec["body"][number], text: string, source: string): unknown {
  const reading = { source, nowMs: shell.now(), where: "body" as const };
  return field.type === "array"
    ? arrayValue(field, [text.replaceAll(";", ",")], reading)
    : fieldValue(field, text, reading);
}
