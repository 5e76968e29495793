/** A spreadsheet would take what begins so for a formula. */
const formula = /^'*[=+\-@\t\r\n]/;

/** A cell that no spreadsheet runs: an apostrophe before it, which `unguarded` takes away again. */
export const guarded = (text: string): string => (formula.test(text) ? `'${text}` : text);

export const unguarded = (cell: string): string => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell);

/** One line of CSV, of cells that are guarded where they must be. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map((text) => (/[",;\t\r\n|]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",")}\n`;
