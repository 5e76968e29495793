import Table from "cli-table3";
import stringWidth from "string-width";
import { recordCell, terminalCell, valueAt } from "./cell.ts";
import { styled, styleOfStatus } from "./colour.ts";
import { headingOf, labelOf } from "./headings.ts";
import { isText, layOut } from "./layout.ts";
import { wrapWords } from "./wrap.ts";

export interface TableOptions {
  columns: readonly string[];
  header: boolean;
  coloured: boolean;
  nowMs: number;
  /** Of the terminal. */
  width: number;
  /** `named`: these columns and no others. `wide`: all of them, however long the lines get. */
  fit?: "named" | "wide";
  /** Columns that are never cut and never left out. */
  keep?: readonly string[] | undefined;
}

const borderless = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};
const plain = { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 0 };

/** Aligned columns, and the names of those for which there is no room. */
export function tableText(
  rows: readonly unknown[],
  options: TableOptions,
): { readonly text: string; readonly left: readonly string[] } {
  const { columns, header, coloured, nowMs, width, fit, keep = [] } = options;
  const cells = rows.map((row) => columns.map((name) => terminalCell(valueAt(row, name), nowMs)));
  const measured = columns.map((name, index) => ({
    name,
    width: Math.max(header ? headingOf(name).length : 1, ...cells.map((row) => stringWidth(row[index]!)), 1),
    blank: cells.every((row) => row[index] === ""),
    keep: keep.includes(name),
    breaks: keep.includes(name) && isText(name),
  }));
  const room = fit === "wide" ? Number.POSITIVE_INFINITY : width;
  const { shown, widths } = layOut(measured, room, fit === "named");
  const table = new Table({ chars: borderless, style: plain, colWidths: [...widths], wordWrap: false });
  // What is wrapped or cut would lose the end of its colour.
  const line = (of: (index: number) => string, paint: (text: string, coloured: boolean) => string) =>
    shown.map((index, at) => {
      const fits = stringWidth(of(index)) <= widths[at]!;
      const broken = measured[index]!.breaks
        ? wrapped(wrapWords(of(index), widths[at]!, 0), widths[at]!)
        : at === 0
          ? wrapped(of(index), widths[0]!)
          : of(index);
      return paint(fits ? of(index) : broken, coloured && fits);
    });
  const bold = (text: string, on: boolean) => styled(text, "bold", on);
  if (header) table.push(line((index) => headingOf(columns[index]!), bold));
  for (const row of cells) table.push(line((index) => row[index]!, painted));
  const text = table
    .toString()
    // cli-table3 does not know the program's own end of a colour, and adds another. Cells hold none: they are escaped.
    .replaceAll("\u001b[39m", "")
    .split("\n")
    .map((one) => one.trimEnd())
    .join("\n");
  return { text: `${text}\n`, left: columns.filter((_, index) => !shown.includes(index)) };
}

/** One object as two columns. */
export function recordText(record: Record<string, unknown>, options: TableOptions): string {
  const rows = options.columns
    .filter((name) => valueAt(record, name) !== undefined)
    .flatMap((name) => singleValues(name, valueAt(record, name)))
    .map(({ name, value }) => ({ name: labelOf(name), value }));
  const longest = Math.max(0, ...rows.map(({ name }) => name.length));
  return rows
    .map(({ name, value }) => {
      const label = styled(name.padEnd(longest), "bold", options.coloured);
      return `${label}  ${painted(recordCell(value, options.nowMs), options.coloured)}`.trimEnd();
    })
    .join("\n")
    .concat("\n");
}

/** An address and its like field by field. */
function singleValues(name: string, value: unknown): { name: string; value: unknown }[] {
  const isNested = typeof value === "object" && value !== null && !Array.isArray(value);
  const fields = isNested ? Object.entries(value) : [];
  return fields.length === 0
    ? [{ name, value }]
    : fields.flatMap(([field, inner]) => singleValues(`${name}.${field}`, inner));
}

function painted(cell: string, coloured: boolean): string {
  const style = styleOfStatus(cell);
  return style === undefined ? cell : styled(cell, style, coloured);
}

/** A text of several lines that are no longer than this. */
function wrapped(text: string, width: number): string {
  const lines = [""];
  for (const char of text) {
    const longer = lines.at(-1) + char;
    if (char === "\n") lines.push("");
    else if (stringWidth(longer) > width) lines.push(char);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}
