import { invisibleIn } from "#contract/core/characters";
import { canonicalEmail } from "#contract/core/email";
import { isTimeZone, zonesLike } from "#contract/core/time-zone";
import { digitsFault, isDayNumber, withoutMidnight } from "../../input/spreadsheet.ts";
import { parseInstant } from "../durations.ts";
import { fileStatuses } from "../model.ts";
import { contactRoleNames } from "../schema.ts";

/** A cell read for its place in the file, or why it cannot stand there. */
export type Reading = { readonly value: unknown } | { readonly reason: string };

export interface ReadOptions {
  /** Order of day and month in dates with slashes. */
  readonly dates?: "dmy" | "mdy" | undefined;
}

export type ReadCell = (text: string, options: ReadOptions) => Reading;

const text =
  (max: number): ReadCell =>
  (cell) =>
    [...cell].length > max
      ? { reason: `has more than ${max} characters` }
      : invisibleIn(cell) !== undefined
        ? { reason: `"${cell}" holds ${invisibleIn(cell)}, which nobody can see` }
        : { value: cell.normalize("NFC") };

const line: ReadCell = (cell, options) => text(255)(cell.replace(/\s+/g, " "), options);

const written =
  (read: ReadCell): ReadCell =>
  (cell, options) => {
    const fault = digitsFault(cell);
    return fault === undefined ? read(cell, options) : { reason: `"${cell}" ${fault}` };
  };

const phone: ReadCell = written((cell, options) => text(64)(cell.replace(/\s+/g, " "), options));

const choice =
  (values: readonly string[], field: string): ReadCell =>
  (cell) => {
    const found = values.find((value) => value === cell.toLowerCase());
    return found === undefined
      ? { reason: `"${cell}" is not one of ${values.join(", ")}: give --map-value '${field}:${cell}=…'` }
      : { value: found };
  };

const email: ReadCell = (cell) => {
  const value = canonicalEmail(cell);
  return value !== undefined && value.length <= 320 ? { value } : { reason: `"${cell}" is not an email address` };
};

const whole: ReadCell = (cell) =>
  /^\d{1,9}$/.test(cell) ? { value: Number(cell) } : { reason: `"${cell}" is not a whole number` };

export const isSlug = (cell: string): boolean => /^[a-z0-9][a-z0-9_-]{0,99}$/i.test(cell);

const slug: ReadCell = (cell) => (isSlug(cell) ? { value: cell.toLowerCase() } : { reason: `"${cell}" is not a slug` });

const timezone: ReadCell = (cell) =>
  isTimeZone(cell)
    ? { value: cell }
    : { reason: `"${cell}" is not an IANA time zone${zonesLike(cell)}: give --map-value 'timezone:${cell}=…'` };

const truths = ["true", "yes", "y", "1", "x", "ja", "oui", "si", "sí", "wahr"];
const untruths = ["false", "no", "n", "0", "nein", "non", "falsch"];
const flag: ReadCell = (cell) => {
  const word = cell.toLowerCase();
  if (truths.includes(word)) return { value: true };
  return untruths.includes(word) ? { value: false } : { reason: `"${cell}" is neither yes nor no` };
};

const roles: ReadCell = (cell) => {
  const named = cell
    .split(/[,;/|+]/)
    .map((one) => one.trim())
    .filter((one) => one !== "");
  const read = named.map((one) => one.toLowerCase().replace(/[\s-]+/g, "_"));
  const unknown = read.findIndex((one) => !(contactRoleNames as readonly string[]).includes(one));
  if (unknown < 0) return { value: [...new Set(read)] };
  return {
    reason: `"${named[unknown]}" is not one of ${contactRoleNames.join(", ")}: give --map-value 'roles:${named[unknown]}=…'`,
  };
};

const date: ReadCell = (written, { dates }) => {
  const cell = withoutMidnight(written);
  if (isDayNumber(cell)) {
    const reason = "is the number of a day in a spreadsheet: give the column the format date and export again";
    return { reason: `"${written}" ${reason}` };
  }
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(cell);
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(cell);
  const [, a = "", b = "", year] = dotted ?? slashed ?? [];
  // Only a day can be beyond 12.
  const order = dates ?? (Number(a) > 12 ? "dmy" : Number(b) > 12 ? "mdy" : undefined);
  if (slashed && order === undefined)
    return { reason: `"${written}" may be read two ways: give --dates dmy or --dates mdy` };
  const [day, month] = dotted || order === "dmy" ? [a, b] : [b, a];
  const iso = year === undefined ? cell : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return parseInstant(iso) === undefined ? { reason: `"${written}" is not a date` } : { value: iso };
};

/** Where a column can go: the path in the file, and how a cell is read for it. */
export const targets: Readonly<Record<string, ReadCell>> = {
  "organization.name": line,
  "organization.slug": slug,
  "organization.type": choice(["customer", "internal"], "type"),
  "organization.status": choice(fileStatuses, "status"),
  "organization.maxDevices": whole,
  "organization.contractStart": date,
  "organization.contractEnd": date,
  "organization.billingContact.name": line,
  "organization.billingContact.email": email,
  "organization.billingContact.phone": written(line),
  "site.name": line,
  "site.timezone": timezone,
  "site.address.line1": text(1000),
  "site.address.line2": text(1000),
  "site.address.city": line,
  "site.address.region": line,
  "site.address.postalCode": written(line),
  "site.address.country": line,
  "site.contact.name": line,
  "site.contact.email": email,
  "site.contact.phone": phone,
  "contact.name": line,
  "contact.email": email,
  "contact.phone": phone,
  "contact.mobile": phone,
  "contact.title": line,
  "contact.roles": roles,
  "contact.isPrimary": flag,
  "contact.notes": text(5000),
};

export const targetNames = Object.keys(targets);

/** Other names of targets. */
export const targetAliases: Readonly<Record<string, string>> = { "site.address.state": "site.address.region" };

/** Whether every cell says yes or no: such a column holds no names. */
export const saysYesOrNo = (cells: readonly string[]): boolean =>
  cells.length > 0 && cells.every((cell) => [...truths, ...untruths].includes(cell.toLowerCase()));
