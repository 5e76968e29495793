/** What a spreadsheet leaves in a cell whose value it could not show; undefined for what a person may have written. */
export function spreadsheetFault(cell: string): string | undefined {
  if (/^[+-]?\d+([.,]\d+)?E\+\d+$/i.test(cell))
    return "lacks digits that a spreadsheet left out: give the column the format text and export again";
  if (/^#(REF!|N\/A|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!)$/i.test(cell))
    return "is an error of a spreadsheet's formula";
  if (/^#{3,}$/.test(cell)) return "is what a spreadsheet shows of a column that is too narrow";
  return undefined;
}

/** The same where digits are no number: telephones, post codes, ids. */
export function digitsFault(cell: string): string | undefined {
  if (/^[+-]?\d+([.,]\d+)?e[+-]?\d+$/i.test(cell))
    return "lacks digits that a spreadsheet left out: give the column the format text and export again";
  if (/^\d+[.,]0+$/.test(cell)) return "was taken for a number: give the column the format text and export again";
  if (/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?(\.\d+)?$/.test(cell))
    return "was taken for a date: give the column the format text and export again";
  return spreadsheetFault(cell);
}

const MIDNIGHT = /[ T](00?:00(:00(\.0+)?)?|12:00(:00)?\s*AM)$/i;

/** A day as spreadsheets and databases write it, without the midnight they add; undefined where it is no such day. */
export const withoutMidnight = (cell: string): string => cell.replace(MIDNIGHT, "");

/** Days since 1899-12-30, which is how a spreadsheet keeps a date. */
export const isDayNumber = (cell: string): boolean => /^[2-7]\d{4}([.,]\d+)?$/.test(cell);

const total =
  /^(grand |sub|zwischen|gesamt)?-?(totals?|totale|totaal|sum|summe|gesamt|suma|somme|insgesamt)\s*[:(]?\s*\d*\)?:?$/i;

/** A row of sums below or between the rows of a table: nothing in it but the word and numbers. */
export function isTotals(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== "");
  return (
    filled.some((cell) => total.test(cell)) &&
    filled.every((cell) => total.test(cell) || /^[\d.,\s€$£%+-]+$/.test(cell))
  );
}
