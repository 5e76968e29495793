import { cellText, recordCell, terminalCell, valueAt } from "./cell.ts";
import { painted, styled } from "./colour.ts";
import { labelOf } from "./headings.ts";
import { type TableOptions, tableText } from "./table.ts";
import { cellLines } from "./wrap.ts";

export interface RecordText {
  readonly text: string;
  /** What the terminal was too narrow for. */
  readonly lack: string | undefined;
}

interface Field {
  readonly name: string;
  readonly value: unknown;
}
interface Options extends Omit<TableOptions, "cell" | "keep" | "shortIds"> {
  /** Filters as expressions, by the field that holds them. */
  filters?: Readonly<Record<string, string>>;
}
type Row = Readonly<Record<string, unknown>>;

/**
 * One object as two columns, and below them a table for each list of objects. Fields without a value share a line,
 * unless they were asked for by name.
 */
export function recordText(record: Row, options: Options): RecordText {
  const all = options.columns
    .filter((name) => valueAt(record, name) !== undefined)
    .flatMap((name) => {
      const filter = options.filters?.[name];
      return filter === undefined ? singleValues(name, valueAt(record, name)) : [{ name: WHERE, value: filter }];
    });
  const isEmpty = ({ value }: Field) => options.fit !== "named" && cellText(value) === "";
  const rows = all.filter((one) => !isEmpty(one) && !isTable(one.value));
  const empty = all.filter(isEmpty).map(({ name }) => name);
  const longest = Math.max(0, ...rows.map(({ name }) => labelOf(name).length), empty.length === 0 ? 0 : NOT_SET.length);
  const line = (label: string, cell: string) =>
    `${styled(label.padEnd(longest), "bold", options.coloured)}  ${cell}`.trimEnd();
  const room = Math.max(NARROWEST, options.width - longest - 2);
  const shown = rows.flatMap(({ name, value }) => {
    const cell = recordCell(value, options.nowMs);
    if (name !== WHERE) return [line(labelOf(name), painted(cell, cell, options.coloured))];
    return cellLines(cell, room).map((one, at) => line(at === 0 ? labelOf(name) : "", one));
  });
  const without = empty.length === 0 ? [] : [line(NOT_SET, emptyText(empty, options.width - longest - 2))];
  const tables = all.flatMap(({ name, value }) => (isTable(value) ? [{ name, ...innerTable(value, options) }] : []));
  const below = tables.flatMap(({ name, lines }) => [styled(labelOf(name), "bold", options.coloured), ...lines]);
  const left = tables.flatMap(({ name, lacking }) => lacking.map((column) => `${name}.${column}`));
  return {
    text: [...shown, ...without, ...below].map((one) => `${one}\n`).join(""),
    lack: left.length === 0 ? undefined : `No room for all of ${left.join(", ")}: --json shows everything`,
  };
}

/** A filter is an expression, in as many lines as it takes. */
const WHERE = "where";
const NARROWEST = 20;
const NOT_SET = "NOT SET";

/** Their names where these fit the line: what has no value is worth no more of them. */
function emptyText(names: readonly string[], room: number): string {
  const text = names.join(", ");
  return text.length <= room ? text : `${names.length} fields: --json shows them`;
}

/** An address and its like field by field. */
function singleValues(name: string, value: unknown): Field[] {
  const isNested = typeof value === "object" && value !== null && !Array.isArray(value);
  const fields = isNested ? Object.entries(value) : [];
  return fields.length === 0
    ? [{ name, value }]
    : fields.flatMap(([field, inner]) => singleValues(`${name}.${field}`, inner));
}

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);
const isTable = (value: unknown): value is readonly Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRow) && value.some((row) => Object.keys(row).length > 0);

const isId = (name: string): boolean => /^id$|Id$/.test(name);

const INDENT = 2;
/** No terminal has room for more; what a machine sent may have any number. */
const COLUMNS_MAX = 40;

/** The columns in which any of the rows has a value, a little to the right of what they belong to. */
function innerTable(rows: readonly Row[], options: Options): { lines: string[]; lacking: readonly string[] } {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const filled = names.filter((name) => rows.some((row) => briefText(valueAt(row, name)) !== ""));
  // Of ids people read least, and the first column is the one that never goes.
  const ordered = [...filled.filter((name) => !isId(name)), ...filled.filter(isId)];
  const columns = filled.length === 0 ? names.slice(0, 1) : ordered.slice(0, COLUMNS_MAX);
  const { coloured, header, nowMs } = options;
  const { text, left, cut } = tableText(rows, {
    ...{ columns, coloured, header, nowMs },
    width: options.width - INDENT,
    cell: (value) => momentText(value) ?? terminalCell(briefText(value), Number.NaN),
  });
  const lines = text.trimEnd().split("\n");
  return { lines: lines.map((one) => `${" ".repeat(INDENT)}${one}`), lacking: [...left, ...cut] };
}

/** Moments side by side are told apart by the second, which a distance from now does not do. */
function momentText(value: unknown): string | undefined {
  const [, second] = (typeof value === "string" && /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(value)) || [];
  return second === undefined ? undefined : `${second}Z`;
}

/** `door: 4711, reason: known tool` of an object; what has no value is left out. */
function briefText(value: unknown): string {
  if (Array.isArray(value)) {
    return value
      .map(briefText)
      .filter((text) => text !== "")
      .join(value.some(isRow) ? "; " : ",");
  }
  if (!isRow(value)) return cellText(value);
  return Object.entries(value)
    .map(([name, inner]) => [name, briefText(inner)] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name}: ${text}`)
    .join(", ");
}
