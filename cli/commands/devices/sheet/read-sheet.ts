import { unguarded } from "#contract/core/csv";
import { didYouMean } from "#contract/core/suggest";
import { usageError } from "../../../errors/cli-error.ts";
import { readTable } from "../../../input/csv-table.ts";
import { CUSTOM, ownColumns, toldColumns } from "./cells.ts";

export interface SheetRow {
  readonly line: number;
  /** By target: `hostname`, `custom.rack`. A column that is not there is absent. */
  readonly cells: ReadonlyMap<string, string>;
  /** Why the row could not be read. */
  readonly refused?: string;
}

/** Reads a table of devices. A column that nobody knows is a mistake about the file: nothing is sent. */
export function readSheet(
  text: string,
  { map, ignore, delimiter }: { map: readonly string[]; ignore: readonly string[]; delimiter: string | undefined },
): SheetRow[] {
  const table = readTable(text, delimiter);
  const mapped = new Map(map.map((one) => targetAndColumn(one, table.header)));
  const targets = table.header.map((column) => mapped.get(column) ?? column.trim());
  const unknown = table.header.filter(
    (column, at) => column !== "" && !ignore.includes(column) && !isTarget(targets[at] as string),
  );
  if (unknown.length > 0)
    throw usageError(
      `No device has ${unknown.join(", ")}${didYouMean(unknown[0] as string, ownColumns)}`,
      "Say what a column is with --map custom.rack=Rack, or leave it out with --ignore Rack",
    );
  const used = targets.filter((target, at) => isTarget(target) && !ignore.includes(table.header[at] as string));
  const twice = used.find((target, at) => used.indexOf(target) !== at);
  if (twice !== undefined) throw usageError(`Two columns are ${twice}`);
  if (!used.includes("id") && !used.includes("hostname"))
    throw usageError("The file has neither a column id nor a column hostname", "Name it with --map hostname=Computer");
  const rows = table.records.map(({ line, cells }): SheetRow => {
    const pairs = targets.flatMap((target, at): [string, string][] =>
      used.includes(target) && !ignore.includes(table.header[at] as string)
        ? [[target, unguarded(cells[at] ?? "")]]
        : [],
    );
    return { line, cells: new Map(pairs) };
  });
  const refused = table.refused.map(({ line, reason }): SheetRow => ({ line, cells: new Map(), refused: reason }));
  return [...rows, ...refused].toSorted((a, b) => a.line - b.line);
}

const isTarget = (name: string): boolean =>
  [...ownColumns, ...toldColumns].some((one) => one === name) || /^custom\.[a-z][a-z0-9_]*$/.test(name);

function targetAndColumn(given: string, header: readonly string[]): [column: string, target: string] {
  const at = given.indexOf("=");
  const [target, column] = [given.slice(0, at), given.slice(at + 1)];
  if (at <= 0) throw usageError("--map takes target=column");
  if (!isTarget(target))
    throw usageError(`--map: there is no target ${target}`, `Targets: ${ownColumns.join(", ")}, ${CUSTOM}<key>`);
  if (header.includes(column)) return [column, target];
  throw usageError(`--map: the file has no column ${column}${didYouMean(column, header)}`);
}
