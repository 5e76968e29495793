import { didYouMean } from "#contract/core/suggest";
import type { Context } from "../context.ts";
import { CliError, usageError } from "../errors/cli-error.ts";
import type { Globals } from "../globals.ts";
import { writeTo } from "../shell.ts";
import { pipeCell, valueAt } from "./cell.ts";
import { isColoured } from "./colour.ts";

/** What is known of a result beside its value. */
export interface Shape {
  /** Top-level fields of the object or of one entry; empty where the contract does not say. */
  fields: readonly string[];
  /** Of the table, when --columns does not say. */
  columns?: readonly string[];
  /** Columns that a narrow terminal neither narrows nor leaves out, beside those that names and texts are in. */
  keep?: readonly string[];
  /** How a table shows a list where nobody chose its columns. */
  view?: View | undefined;
}

/** What people see of a list on a terminal; programs get the fields of the contract. */
export interface View {
  readonly columns: readonly string[];
  /** Where there is no room for whole ids their beginnings stay, which the commands of the noun take. */
  readonly shortIds?: boolean;
  /** Further columns, made of a row. */
  readonly more?: (row: never) => Readonly<Record<string, unknown>>;
}

type Format = "json" | "ndjson" | "jq" | "table" | "tsv";

/** How this run prints: flags first, then the profile, then a table for people and tabs for pipes. */
export function formatOf({ shell, globals, settings }: Context): Format {
  if (globals.jq !== undefined) return "jq";
  if (globals.ndjson) return "ndjson";
  if (globals.json) return "json";
  if (globals.columns !== undefined) return shell.isTty.stdout ? "table" : "tsv";
  const { value } = settings.output;
  if (value !== "auto") return value;
  return shell.isTty.stdout ? "table" : "tsv";
}

/** True where notices would be in the way of a program that reads this run's stderr. */
export const isForPrograms = (context: Context): boolean => ["json", "ndjson", "jq"].includes(formatOf(context));

/** Refuses unknown names in --json=… and --columns before anything is sent. */
export function checkFields(globals: Globals, { fields }: Shape): void {
  if (fields.length === 0) return;
  const chosen: [string, readonly string[]][] = [
    ["--json=", globals.jsonFields ?? []],
    ["--columns ", globals.columns ?? []],
  ];
  for (const [flag, names] of chosen) {
    for (const name of names) {
      if (fields.includes(name.split(".")[0]!)) continue;
      throw usageError(
        `${flag}${name}: there is no such field${didYouMean(name, fields)}`,
        `Fields: ${fields.join(", ")}`,
      );
    }
  }
}

/** Prints a list or one value on stdout, in one piece. */
export async function printResult(context: Context, value: unknown, shape: Shape): Promise<void> {
  await printAndTell(context, value, shape);
}

/** The same, and returns what was printed. */
export async function printAndTell(context: Context, value: unknown, shape: Shape): Promise<string> {
  checkFields(context.globals, shape);
  const { text, lack } = await textOf(context, value, shape);
  if (text !== "") await writeTo(context.shell, "stdout", text);
  if (lack !== undefined) await context.notice(lack);
  return text;
}

interface Text {
  readonly text: string;
  /** What the terminal was too narrow for. */
  readonly lack?: string | undefined;
}

async function textOf(context: Context, value: unknown, shape: Shape): Promise<Text> {
  if (formatOf(context) === "table") return terminalText(context, value, shape);
  return { text: await wholeText(context, value, shape) };
}

async function wholeText(context: Context, value: unknown, shape: Shape): Promise<string> {
  const { globals } = context;
  const format = formatOf(context);
  const chosen = globals.jsonFields === undefined ? value : picked(value, globals.jsonFields);
  if (format === "jq") {
    const { runJq } = await import("./jq.ts");
    return runJq(chosen, globals.jq!).catch((error: unknown) => {
      throw context.hasChanged() && error instanceof CliError ? doneButNotPrinted(error) : error;
    });
  }
  if (format === "json") return `${JSON.stringify(chosen ?? null, null, 2)}\n`;
  if (format === "ndjson") {
    const lines = Array.isArray(chosen) ? chosen : [chosen ?? null];
    return lines.map((one) => `${JSON.stringify(one)}\n`).join("");
  }
  return tsvText(context, value, shape);
}

const doneButNotPrinted = ({ message, code, cause }: CliError): CliError =>
  new CliError(`The change was made, but its result cannot be printed: ${message}`, {
    exit: "failure",
    code,
    cause,
    hint: "Do not repeat it: look at the result with another command",
  });

/** The fields that `--json=…` names, of an object or of each in a list. */
export function picked(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => picked(one, names));
  return Object.fromEntries(names.map((name) => [name, valueAt(value, name) ?? null]));
}

function tsvText({ globals }: Context, value: unknown, shape: Shape): string {
  const columns = globals.columns ?? shape.columns;
  const line = (row: unknown, names: readonly string[]) =>
    `${names.map((name) => pipeCell(valueAt(row, name))).join("\t")}\n`;
  if (Array.isArray(value)) return value.map((row) => line(row, columns ?? columnsIn(value, shape))).join("");
  if (typeof value !== "object" || value === null) return value === undefined ? "" : `${String(value)}\n`;
  if (globals.columns !== undefined) return line(value, globals.columns);
  return Object.entries(value)
    .map(([name, one]) => `${pipeCell(name)}\t${pipeCell(one)}\n`)
    .join("");
}

async function terminalText(context: Context, value: unknown, shape: Shape): Promise<Text> {
  const { shell, globals } = context;
  if (value === undefined) return { text: "" };
  if (typeof value !== "object" || value === null) return { text: `${String(value)}\n` };
  const { tableText, lackOf } = await import("./table.ts");
  const options = {
    header: globals.header,
    coloured: isColoured(shell, "stdout"),
    nowMs: shell.now(),
    width: shell.columns,
  };
  if (!Array.isArray(value)) {
    const columns = globals.columns ?? Object.keys(value);
    const [{ recordText }, { filterTexts }] = await Promise.all([import("./record.ts"), import("./filter-text.ts")]);
    const more = globals.columns === undefined ? { filters: await filterTexts(value) } : ({ fit: "named" } as const);
    return recordText(value as Record<string, unknown>, { ...options, columns, ...more });
  }
  if (value.length === 0) return { text: "" };
  const fit = globals.wide ? "wide" : globals.columns && "named";
  const view = globals.columns === undefined ? shape.view : undefined;
  const columns = globals.columns ?? view?.columns ?? shape.columns ?? columnsIn(value, shape);
  const { more } = view ?? {};
  const rows = more === undefined ? value : value.map((row) => ({ ...row, ...more(row as never) }));
  const shortIds = view?.shortIds === true;
  const fitted = fit === undefined ? {} : ({ fit } as const);
  const made = tableText(rows, { ...options, columns, keep: shape.keep, shortIds, ...fitted });
  return { text: made.text, lack: lackOf(made) };
}

const columnsIn = (rows: readonly unknown[], shape: Shape): readonly string[] => {
  if (shape.fields.length > 0) return shape.fields;
  const first = rows.find((row) => typeof row === "object" && row !== null);
  return first === undefined ? ["value"] : Object.keys(first as object);
};
