/** `orgId` → `org_id`. No name of the schema has two capitals in a row. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const camelCase = (column: string): string => column.replace(/_+([a-z0-9])/g, (_, next: string) => next.toUpperCase());

export type Row = Record<string, unknown>;

/**
 * Makes rows under the names that code uses from the values of these columns, in their order. A copy of one template
 * keeps its shape: objects that grow one field at a time become hash tables from about the sixteenth on, which makes
 * every later copy expensive (measured).
 */
export function rowsOf(
  columns: readonly string[],
  decode: (column: string) => ((value: unknown) => unknown) | undefined = () => undefined,
): (values: readonly unknown[]) => Row {
  const names = columns.map(camelCase);
  const decoders = columns.map(decode);
  const template = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join(",")}}`) as Row;
  return (values) => {
    const row = { ...template };
    for (let index = 0; index < names.length; index += 1) {
      const value = values[index];
      const decoder = value === null ? undefined : decoders[index];
      row[names[index] as string] = decoder ? decoder(value) : value;
    }
    return row;
  };
}
