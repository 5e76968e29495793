/** One setting of a policy as a line: `event_log.retentionDays`, `30`. */
export interface SettingRow {
  readonly setting: string;
  readonly value: unknown;
}

/** Settings of a type, a line each; of entries with several fields, a line for each entry. */
export function settingRows(path: string, value: unknown): SettingRow[] {
  if (Array.isArray(value)) {
    if (!value.some(isObject)) return [{ setting: path, value: value.length === 0 ? "none" : value }];
    return value.map((entry, at) => ({ setting: `${path}[${at + 1}]`, value: entryText(entry) }));
  }
  if (!isObject(value)) return [{ setting: path, value }];
  const fields = Object.entries(value);
  if (fields.length === 0) return [{ setting: path, value: "none" }];
  return fields.flatMap(([name, inner]) => settingRows(`${path}.${name}`, inner));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `7-Zip: signer Igor Pavlov, pathGlob C:\Program Files\7-Zip\**`. */
function entryText(entry: unknown): string {
  if (!isObject(entry)) return String(entry);
  const { name, ...fields } = entry;
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key} ${isObject(value) ? JSON.stringify(value) : String(value)}`,
  );
  return [...(name === undefined ? [] : [`${String(name)}:`]), rest.join(", ")].join(" ");
}
