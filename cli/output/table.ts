import Table from "cli-table3";
import { terminalCell, valueAt } from "./cell.ts";
import { styled, styleOfStatus } from "./colour.ts";
import { escapeControls } from "./escape.ts";

export interface TableOptions {
  columns: readonly string[];
  header: boolean;
  coloured: boolean;
  nowMs: number;
  /** Of the terminal. */
  width: number;
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
const GAP = 2;
const NARROWEST = 10;
/** Half an id is of no use: the terminal may wrap instead. */
const whole = /^id$|Id$/;

/** Aligned columns. Cells are shortened with `…` only where the terminal is too narrow. */
export function tableText(rows: readonly unknown[], options: TableOptions): string {
  const { columns, header, coloured, nowMs } = options;
  const cells = rows.map((row) => columns.map((name) => terminalCell(valueAt(row, name), nowMs)));
  const heads = columns.map(headOf);
  const widths = fitted(
    columns.map((_, index) =>
      Math.max(header ? heads[index]!.length : 1, ...cells.map((row) => widthOf(row[index]!)), 1),
    ),
    columns.map((name) => (whole.test(name) ? Number.POSITIVE_INFINITY : NARROWEST)),
    options.width,
  );
  const table = new Table({ chars: borderless, style: plain, colWidths: widths, wordWrap: false });
  if (header) table.push(heads.map((head, index) => styled(head, "bold", coloured && widthOf(head) <= widths[index]!)));
  // A cell that is cut would lose the end of its colour.
  for (const row of cells)
    table.push(row.map((cell, index) => painted(cell, coloured && widthOf(cell) <= widths[index]!)));
  return `${table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

/** One object as two columns. */
export function recordText(record: Record<string, unknown>, options: TableOptions): string {
  const rows = options.columns
    .filter((name) => valueAt(record, name) !== undefined)
    .map((name) => ({ name: headOf(name), value: valueAt(record, name) }));
  const longest = Math.max(0, ...rows.map(({ name }) => name.length));
  return rows
    .map(({ name, value }) => {
      const label = styled(name.padEnd(longest), "bold", options.coloured);
      return `${label}  ${painted(terminalCell(value, options.nowMs), options.coloured)}`.trimEnd();
    })
    .join("\n")
    .concat("\n");
}

const headOf = (name: string): string =>
  escapeControls(name)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(".", " ")
    .toUpperCase();

function painted(cell: string, coloured: boolean): string {
  const style = styleOfStatus(cell);
  return style === undefined ? cell : styled(cell, style, coloured);
}

/** The widest columns give way until the row fits, or each that may is at its narrowest. */
function fitted(widths: number[], narrowest: number[], terminal: number): number[] {
  const result = [...widths];
  let over = result.reduce((sum, width) => sum + width, GAP * (result.length - 1)) - terminal;
  while (over > 0) {
    const able = result.map((width, index) => (width > narrowest[index]! ? width : 0));
    const widest = able.indexOf(Math.max(...able));
    if (able[widest] === 0) break;
    result[widest]! -= 1;
    over -= 1;
  }
  return result;
}

/** Columns a text takes: wide East Asian characters take two, marks none. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) {
    if (/\p{Mark}/u.test(char)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
        char,
      )
        ? 2
        : 1;
  }
  return width;
}
