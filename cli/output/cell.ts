import { escapeControls, escapeTsv } from "./escape.ts";
import { relativeTime } from "./relative-time.ts";

/** A value as text: lists with commas, objects as JSON, nothing for null. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && value.every((one) => typeof one !== "object" || one === null)) {
    return value.map(cellText).join(",");
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** For a terminal: one line, nothing that moves the cursor, times relative to now. */
export function terminalCell(value: unknown, nowMs: number): string {
  const text = cellText(value);
  return (typeof value === "string" && relativeTime(value, nowMs)) || escapeControls(text);
}

/** For a terminal that shows one object alone: a time as it is, and how far that is from now. */
export function recordCell(value: unknown, nowMs: number): string {
  const distance = typeof value === "string" ? relativeTime(value, nowMs) : undefined;
  return distance === undefined ? terminalCell(value, nowMs) : `${value as string} (${distance})`;
}

/** For a pipe: the whole value, times as RFC 3339. */
export const pipeCell = (value: unknown): string => escapeTsv(cellText(value));

/** `billingContact.email` of a row. */
export function valueAt(row: unknown, path: string): unknown {
  if (typeof row !== "object" || row === null) return path === "value" ? row : undefined;
  if (Object.hasOwn(row, path)) return (row as Record<string, unknown>)[path];
  return path
    .split(".")
    .reduce<unknown>(
      (at, key) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined),
      row,
    );
}
