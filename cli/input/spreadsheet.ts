/** Explains a spreadsheet's error value or damaged cell; undefined for text that a person may have typed. */
export function spreadsheetFault(cell: string): string | undefined {
  if (/^[+-]?\d+([.,]\d+)?E\+\d+$/i.test(cell))
    return "lacks digits that a spreadsheet left out: give the column the format text and export again";
  if (/^#(REF!|N\/A|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!)$/i.test(cell))
    return "is an error of a spreadsheet's formula";
  if (/^#{3,}$/.test(cell)) return "is what a spreadsheet shows of a column that is too narrow";
  return undefined;
}

/** The same for digits that are not a number: telephone numbers, post codes, ids. */
export function digitsFault(cell: string): string | undefined {
  if (/^[+-]?\d+([.,]\d+)?e[+-]?\d+$/i.test(cell))
    return "lacks digits that a spreadsheet left out: give the column the format text and export again";
  if (/^\d+[.,]0+$/.test(cell)) return "was taken for a number: give the column the format text and export again";
  if (/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?(\.\d+)?$/.test(cell))
    return "was taken for a date: give the column the format text and export again";
  return spreadsheetFault(cell);
}

const MIDNIGHT = /[ T](00?:00(:00(\.0+)?)?|12:00(:00)?\s*AM)$/i;

/** A date as spreadsheets and databases write it, without the midnight that they add; undefined if it is not a date. */
export const withoutMidnight = (cell: string): string => cell.replace(MIDNIGHT, "");

/** Days since 1899-12-30, which is how a spreadsheet keeps a date. */
export const isDayNumber = (cell: string): boolean => /^[2-7]\d{4}([.,]\d+)?$/.test(cell);

const total =
  /^(grand |sub|zwischen|gesamt)?-?(totals?|totale|totaal|sum|summe|gesamt|suma|somme|insgesamt)\s*[:(]?\s*\d*\)?:?$/i;

/** A totals row of a table: it has only the word and numbers. */
export function isTotals(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== "");
  return (
    filled.some((cell) => total.test(cell)) &&
    filled.every((cell) => total.test(cell) || /^[\d.,\s€$£%+-]+$/.test(cell))
  );
}
