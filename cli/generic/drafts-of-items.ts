import { didYouMean } from "#contract/core/suggest";
import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { spreadsheetFault } from "../input/spreadsheet.ts";
import { jsonAsWritten, textAsWritten } from "../input/written.ts";
import type { CommandSpec } from "../manifest.ts";
import type { Where } from "../where/parse.ts";
import { whereIn } from "../where/read-where.ts";
import { arrayValue, fieldValue } from "./field-value.ts";
import { filterFieldOf, sampleWhere } from "./filter-field.ts";
import type { Draft } from "./invocation.ts";
import { EXPRESSION, knownOf, type PlaceIn, placesIn } from "./keys-of-items.ts";
import type { Given, Item } from "./read-items.ts";
import { labelOf } from "./subject.ts";

/** Joins the entries of a file with the flags; a flag wins over an entry. A bad entry of a list fails by itself. */
export function draftsOfItems(context: Context, spec: CommandSpec, given: Given, flags: Draft): Draft[] {
  const placeIn = placesIn(spec, flags);
  const isUnknown = (key: string) => placeIn(key) === undefined;
  const everywhere = Object.keys(given.items[0] ?? {}).filter((key) => given.items.every((item) => key in item));
  // What no entry has right is a mistake about the file, not about an entry.
  const wrong = everywhere.filter(isUnknown);
  if (wrong.length > 0) throw unknownFields(spec, "The input has", wrong);
  return given.items.map((item, index) => {
    const line = given.lines[index] ?? null;
    const placeOf = (key?: string) => given.placeOf(index, key);
    try {
      const unknown = Object.keys(item).filter(isUnknown);
      if (unknown.length > 0) throw unknownFields(spec, `${placeOf()} has`, unknown);
      return { ...draftOfItem(context, spec, { item, textual: given.textual, placeIn, placeOf }, flags), line };
    } catch (failure) {
      if (!given.list) throw failure;
      return { ...flags, failure, line, called: calledIn(spec, item) };
    }
  });
}

/** As `aboutOf` names an entry that can be sent. */
function calledIn({ kind, params }: CommandSpec, item: Item): string | undefined {
  const written = Object.fromEntries(Object.entries(item).map(([key, value]) => [key, textAsWritten(value)]));
  const id = params.length === 0 ? undefined : written[params.at(-1) as string];
  return labelOf(kind, written) ?? (typeof id === "string" && id !== "" ? id : undefined);
}

function unknownFields(spec: CommandSpec, who: string, names: readonly string[]) {
  const known = knownOf(spec);
  const named = names.map((name) => `${name}${didYouMean(name, known)}`).join(", ");
  const details = names.map((path) => ({ path, message: "is not a field of this command" }));
  return usageError(`${who} fields this command does not know: ${named}`, `Fields: ${known.join(", ")}`, details);
}

/** Without this it would only be said that `id` is missing, which such a file may well have. */
function requireNamed(spec: CommandSpec, { params }: Draft, place: string): void {
  if (!spec.hasBody || spec.body.length > 0) return;
  const kinds = spec.params.filter((param) => !params[param]).map((param) => String(spec.refs[param]));
  if (kinds.length === 0) return;
  const [kind] = kinds;
  throw usageError(
    `${place}: no ${kind} is named`,
    `Give it as the argument, or by its id under the key ${kind}; every other key, id too, is a value to set`,
  );
}

interface Entry {
  readonly item: Item;
  readonly textual: boolean;
  readonly placeIn: PlaceIn;
  placeOf(key?: string): string;
}

function draftOfItem(
  context: Context,
  spec: CommandSpec,
  { item, textual, placeIn, placeOf }: Entry,
  flags: Draft,
): Draft {
  const params: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  const filter = filterFieldOf(spec)?.spec;
  let where: Where | undefined;
  for (const [key, value] of Object.entries(item)) {
    const { part, name } = placeIn(key)!;
    const field = spec.body.find((one) => one.name === name);
    if (textual && value === "") continue;
    const place = placeOf(key);
    const fault = textual ? spreadsheetFault(String(value)) : undefined;
    if (fault !== undefined) throw usageError(`${place}: "${String(value)}" ${fault}`);
    if (name === EXPRESSION && filter !== undefined) {
      where = expressionOf(context, value, place);
      continue;
    }
    if (part === "params") {
      const text = textAsWritten(value);
      if (typeof text === "string") params[name] = text;
    } else if (field && textual) body[name] = cell(context, field, String(value), place);
    else body[name] = textual ? value : fieldOfType(context, field, value, place);
  }
  const all = { ...body, ...flags.body };
  if (where !== undefined && filter !== undefined) {
    if (all[filter.name] !== undefined) throw usageError(`${placeOf(EXPRESSION)}: give it or ${filter.name}, not both`);
    all[filter.name] = where.filter;
  }
  const draft = { ...flags, params: { ...params, ...flags.params }, body: all, where };
  requireNamed(spec, draft, placeOf());
  return draft;
}

/** Names in it are looked up later, when the server is asked for those of the other fields. */
function expressionOf({ shell }: Context, value: unknown, place: string): Where {
  if (typeof value !== "string") throw usageError(`${place} must be an expression: ${sampleWhere}`);
  return whereIn(shell, value, place);
}

/** Text as it is written, times as on the command line (`30d`), everything else in the types of JSON. */
function fieldOfType(
  context: Context,
  field: CommandSpec["body"][number] | undefined,
  value: unknown,
  place: string,
): unknown {
  const isText = (type: string | undefined) => type === "string" || type === "enum";
  if (field && isText(field.type)) {
    const text = textAsWritten(value);
    return field.format === "date-time" && typeof text === "string" ? cell(context, field, text, place) : text;
  }
  if (field?.type === "array" && Array.isArray(value) && isText(field.itemType)) return value.map(textAsWritten);
  return jsonAsWritten(value, (_steps, message) => {
    throw usageError(`${place}: ${message}`);
  });
}

function cell({ shell }: Context, field: CommandSpec["body"][number], text: string, source: string): unknown {
  const reading = { source, nowMs: shell.now(), where: "body" as const };
  return field.type === "array"
    ? arrayValue(field, [text.replaceAll(";", ",")], reading)
    : fieldValue(field, text, reading);
}
