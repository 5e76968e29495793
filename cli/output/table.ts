import Table from "cli-table3";
import stringWidth from "string-width";
import { terminalCell, valueAt } from "./cell.ts";
import { painted, styled } from "./colour.ts";
import { headingOf } from "./headings.ts";
import { isNeverCut, layOut } from "./layout.ts";
import { beginningsOf } from "./short-ids.ts";
import { cellLines } from "./wrap.ts";

export interface TableOptions {
  columns: readonly string[];
  header: boolean;
  coloured: boolean;
  nowMs: number;
  /** Of the terminal. */
  width: number;
  /** `named`: these columns and no others. `wide`: all of them, however long the lines get. */
  fit?: "named" | "wide";
  /** Columns that are never narrowed and never left out. */
  keep?: readonly string[] | undefined;
  /** Ids for which there is no room are shown by their beginnings. */
  shortIds?: boolean;
  /** How a value is written; default: in one line, a time by how far it is from now. */
  cell?: (value: unknown, nowMs: number) => string;
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

export interface TableText {
  readonly text: string;
  /** Columns for which there is no room. */
  readonly left: readonly string[];
  /** Columns that show less than a value. */
  readonly cut: readonly string[];
}

/** Of a value that is neither a name nor a text. */
const MOST_LINES = 6;

/** Aligned columns. What is wider than its column is broken into lines. */
export function tableText(rows: readonly unknown[], options: TableOptions): TableText {
  const { columns, header, coloured, nowMs, width, fit, keep = [], shortIds = false, cell = terminalCell } = options;
  const whole = rows.map((row) => columns.map((name) => cell(valueAt(row, name), nowMs)));
  const room = fit === "wide" ? Number.POSITIVE_INFINITY : width;
  const laidOut = (cells: readonly (readonly string[])[], kept: readonly string[]) => {
    const measured = columns.map((name, index) => ({
      name,
      width: Math.max(header ? headingOf(name).length : 1, ...cells.map((row) => stringWidth(row[index]!)), 1),
      blank: cells.every((row) => row[index] === ""),
      keep: kept.includes(name),
    }));
    return { cells, ...layOut(measured, room, fit === "named") };
  };
  const atFirst = laidOut(whole, keep);
  const id = shortIds ? columns.indexOf("id") : -1;
  const isShort = id !== -1 && !atFirst.shown.includes(id);
  const { cells, shown, widths } = isShort ? laidOut(beginningsOf(whole, id), [...keep, "id"]) : atFirst;
  const table = new Table({ chars: borderless, style: plain, colWidths: [...widths], wordWrap: false });
  const cut = new Set<string>(isShort ? ["id"] : []);
  const line = (of: (index: number) => string, paint: (text: string, whole: string) => string) =>
    shown.map((index, at) => {
      const name = columns[index]!;
      const broken = cellLines(of(index), widths[at]!);
      const lines = at === 0 || isNeverCut(name) ? broken : shortened(broken, widths[at]!);
      if (lines.length < broken.length) cut.add(name);
      // Each line has its own colour, which would end at the end of the first.
      return lines.map((one) => paint(one, of(index))).join("\n");
    });
  if (header)
    table.push(
      line(
        (index) => headingOf(columns[index]!),
        (text) => styled(text, "bold", coloured),
      ),
    );
  for (const row of cells)
    table.push(
      line(
        (index) => row[index]!,
        (text, all) => painted(text, all, coloured),
      ),
    );
  const text = table
    .toString()
    // cli-table3 does not know the program's own end of a colour, and adds another. Cells hold none: they are escaped.
    .replaceAll("\u001b[39m", "")
    .split("\n")
    .map((one) => one.trimEnd())
    .join("\n");
  return { text: `${text}\n`, left: columns.filter((_, index) => !shown.includes(index)), cut: [...cut] };
}

/** As many lines as a row may have, with a mark where there are more. */
function shortened(lines: readonly string[], width: number): readonly string[] {
  if (lines.length <= MOST_LINES) return lines;
  const last = [...cellLines(lines[MOST_LINES - 1]!, Math.max(1, width - 1))][0];
  return [...lines.slice(0, MOST_LINES - 1), `${last}…`];
}

/** What a terminal was too narrow for, and how to see it; undefined where it showed everything. */
export function lackOf({ left, cut }: TableText): string | undefined {
  const parts = cut.join(", ");
  if (left.length === 0) return cut.length === 0 ? undefined : `No room for all of ${parts}: --wide shows it`;
  return `No room for ${left.join(", ")}${cut.length === 0 ? "" : `, nor all of ${parts}`}: --wide shows all columns`;
}
