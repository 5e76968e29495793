import { csvLine, guarded } from "#contract/core/csv";
import { cellText } from "../../../output/cell.ts";
import type { Chosen } from "../chosen.ts";

/** Columns of an exported device; those behind `tags` are told and not taken back. */
export const ownColumns = ["id", "org", "site", "hostname", "displayName", "osType", "deviceRole", "tags"] as const;
export const toldColumns = ["orgName", "status", "enrolledAt", "lastSeenAt", "agentVersion"] as const;
export const CUSTOM = "custom.";

/** What one column says of a device, before it is written as a cell. */
export function plainCell(device: Chosen, column: string, slugOf: (orgId: string) => string): unknown {
  if (column.startsWith(CUSTOM)) return device.customFields[column.slice(CUSTOM.length)] ?? null;
  if (column === "org") return slugOf(device.orgId);
  if (column === "site") return device.siteName;
  return (device as unknown as Record<string, unknown>)[column];
}

/** As a cell of a table: tags with commas, as JSON where one of them has a comma. */
export const textCell = (value: unknown): string =>
  Array.isArray(value) && value.some((one) => /[,"]|^\[/.test(String(one))) ? JSON.stringify(value) : cellText(value);

/** The same for tags that were read. */
export function tagsOf(cell: string): string[] | undefined {
  if (!cell.startsWith("["))
    return [
      ...new Set(
        cell
          .split(",")
          .map((one) => one.trim())
          .filter((one) => one !== ""),
      ),
    ];
  try {
    const all: unknown = JSON.parse(cell);
    return Array.isArray(all) && all.every((one) => typeof one === "string") ? all : undefined;
  } catch {
    return undefined;
  }
}

const number = /^-?\d+(\.\d+)?$/;

/** A plain number is no formula. */
const cell = (text: string): string => (number.test(text) ? text : guarded(text));

/** One line of the sheet. */
export const sheetLine = (texts: readonly string[]): string => csvLine(texts.map(cell));
