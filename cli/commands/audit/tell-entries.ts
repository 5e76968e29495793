import stringWidth from "string-width";
import type { AuditLogEntry } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import type { CommandSpec } from "../../manifest.ts";
import { isColoured, painted } from "../../output/colour.ts";
import { escapeControls } from "../../output/escape.ts";
import { formatOf } from "../../output/print.ts";
import { cut } from "../../output/wrap.ts";
import { writeTo } from "../../shell.ts";
import { lineColumnsOf, lineOf } from "../webhooks/line-of.ts";

type Entry = Pick<AuditLogEntry, "id" | "timestamp" | "user" | "action" | "result" | "resource">;
type Tell = (rows: readonly Entry[]) => Promise<void>;

const GAP = "  ";
const TIME = "00:00:00".length;
const NARROWEST = 8;
/** Among the cells: how it ended, which is short. */
const RESULT = 2;

/** Writes entries that follow each other, a line for each; a terminal has them in columns, and a day above its first one. */
export function entryTeller(context: Context, spec: CommandSpec): Tell {
  const { globals, shell } = context;
  const write = async (lines: readonly string[]) => {
    for (const line of lines) await writeTo(shell, "stdout", `${line}\n`);
  };
  if (formatOf(context) !== "table" || !shell.isTty.stdout || globals.columns !== undefined) {
    const columns = lineColumnsOf(spec, {});
    return (rows) => write(rows.map((row) => lineOf(context, row, columns)));
  }
  const coloured = isColoured(shell, "stdout");
  /** Of all cells so far, so that those to come stand below them. */
  const widest: number[] = [];
  let day: string | undefined;
  let isTold = false;
  return async (rows) => {
    const all = rows.map((row) => ({ row, cells: cellsOf(row, globals.wide) }));
    for (const { cells } of all)
      for (const [at, cell] of cells.entries()) widest[at] = Math.max(widest[at] ?? 0, stringWidth(cell));
    const room = shell.columns - TIME - widest.length * GAP.length;
    const widths = globals.wide ? widest : shared(widest, room);
    const lines = all.flatMap(({ row, cells }) => {
      const [date = "", time = ""] = row.timestamp.split("T");
      const heading = date === day ? [] : [`${date} UTC`];
      day = date;
      const shown = cells.map((cell, at) => {
        const text = cut(cell, widths[at]!);
        const blank = at === cells.length - 1 ? "" : " ".repeat(widths[at]! - stringWidth(text));
        return painted(text, cell, coloured) + blank;
      });
      return [...heading, [time.slice(0, TIME), ...shown].join(GAP)];
    });
    await write(lines);
    const isCut = widths.some((width, at) => width < widest[at]!);
    if (isCut && !isTold) await context.notice("No room for all of some cells: --wide shows them whole");
    isTold ||= isCut;
  };
}

/** Who did it: a key has no email. Of what it was done to the name: actions begin with its type. */
const cellsOf = ({ id, user, action, result, resource }: Entry, wide: boolean): string[] =>
  [
    ...[user.email ?? user.name, action, result],
    ...(wide ? [resource.name, resource.type, id] : [resource.name ?? resource.type]),
  ].map((text) => escapeControls(text ?? ""));

/** The widest give way. */
function shared(widest: readonly number[], room: number): number[] {
  const widths = [...widest];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const able = widths.map((width, at) => (at !== RESULT && width > NARROWEST ? width : 0));
    const most = Math.max(...able);
    if (most === 0) break;
    widths[able.indexOf(most)]! -= 1;
  }
  return widths;
}
