import type { RefusedRow, Remark } from "../../input/csv-table.ts";
import { contactLabel } from "../check-model.ts";
import { stable } from "../fields.ts";
import { foldName } from "../model.ts";
import { valueText } from "../value-text.ts";

/** A row read for the file: its fields by target. */
export interface ReadRow {
  readonly line: number;
  readonly fields: ReadonlyMap<string, unknown>;
}

type Fields = Record<string, unknown>;

/** An organization as its rows add up. */
export interface Merged {
  readonly name: string;
  /** Of its first row. */
  readonly line: number;
  readonly fields: Fields;
  readonly sites: Map<string, Fields>;
  readonly contacts: Map<string, Fields>;
}

/** Where each value came from, for the row that contradicts it. */
type Origins = WeakMap<Fields, Map<string, number>>;

const MAIN_SITE = "Main";

/** What may be done about a row that says something else than an earlier one, by the target that differs. */
export type Advice = (target: string) => string;

/**
 * Rows of one organization become one, with every site and contact they name. A row that contradicts an earlier
 * one is refused whole, with advice.
 */
export function mergeRows(
  rows: readonly ReadRow[],
  advice: Advice,
): { organizations: Merged[]; refused: RefusedRow[]; remarks: Remark[] } {
  const found = new Map<string, Merged>();
  const refused: RefusedRow[] = [];
  const remarks: Remark[] = [];
  const origins: Origins = new WeakMap();
  for (const row of rows) {
    const name = row.fields.get("organization.name") as string;
    const known = found.get(foldName(name));
    const organization = known ?? { name, line: row.line, fields: {}, sites: new Map(), contacts: new Map() };
    const parts = partsOf(row, organization);
    const reason =
      parts.map((part) => contradiction(part, origins, advice)).find((one) => one !== undefined) ??
      secondPrimary(parts, organization) ??
      endBeforeStart(parts[0] as Part);
    if (reason !== undefined) {
      refused.push({ line: row.line, reason });
      continue;
    }
    if (!known) found.set(foldName(name), organization);
    remarks.push(...homeless(row));
    for (const part of parts) {
      part.keep();
      merge(part.into, part.add, origins, row.line);
    }
  }
  return { organizations: [...found.values()], refused, remarks };
}

interface Part {
  /** What is known so far. */
  readonly into: Fields;
  readonly add: Fields;
  readonly what: string;
  /** `site`: its fields are the targets `site.…`. */
  readonly kind: "organization" | "site" | "contact";
  /** Puts `into` where it belongs. */
  keep(): void;
}

function partsOf({ fields }: ReadRow, organization: Merged): Part[] {
  const { name: _own, ...own } = nested(fields, "organization.");
  const site = siteOf(fields);
  const contact = nested(fields, "contact.");
  const whole = { into: organization.fields, add: own, what: organization.name, kind: "organization" } as const;
  const parts: Part[] = [{ ...whole, keep: () => undefined }];
  if (site) {
    const key = foldName(site["name"] as string);
    parts.push(partIn(organization.sites, key, { kind: "site", add: site, what: `site ${site["name"]}` }));
  }
  if (hasIdentity(contact)) {
    const place = fields.has("site.name") && site ? { site: site["name"] } : {};
    const { email = "", name = "", phone = "", mobile = "" } = contact as Record<string, string>;
    const identity = JSON.stringify([
      email,
      foldName(name),
      email || name ? "" : phone || mobile,
      foldName(String(place.site ?? "")),
    ]);
    const add = { ...contact, ...place };
    parts.push(
      partIn(organization.contacts, identity, { kind: "contact", add, what: `contact ${contactLabel(contact)}` }),
    );
  }
  return parts;
}

function partIn(all: Map<string, Fields>, key: string, about: Pick<Part, "kind" | "add" | "what">): Part {
  const into = all.get(key) ?? {};
  return { ...about, into, keep: () => void all.set(key, into) };
}

/** What a row says of a contact that it does not name goes nowhere. */
function homeless({ line, fields }: ReadRow): Remark[] {
  const contact = nested(fields, "contact.");
  const names = Object.keys(contact).filter((name) => name !== "isPrimary");
  if (names.length === 0 || hasIdentity(contact)) return [];
  const left = names.map((name) => `contact.${name}`).join(", ");
  return [{ line, message: `names no contact: ${left} is left out` }];
}

const hasIdentity = ({ name, email, phone, mobile }: Fields): boolean => Boolean(name ?? email ?? phone ?? mobile);

/** An address without a site's name belongs to the one site that most customers have. */
function siteOf(fields: ReadonlyMap<string, unknown>): Fields | undefined {
  const { name = MAIN_SITE, ...rest } = nested(fields, "site.");
  const named = fields.has("site.name");
  if (!named && Object.keys(rest).length === 0) return undefined;
  const address = rest["address"] as Record<string, string> | undefined;
  return { name, ...rest, ...(address ? { address: splitLines(address) } : {}) };
}

/** An address that was typed over several lines in one cell. */
function splitLines(address: Record<string, string>): Record<string, string> {
  const [line1 = "", ...more] = (address["line1"] ?? "")
    .split("\n")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  if (more.length === 0) return address;
  const line2 = [...more, ...(address["line2"] ? [address["line2"]] : [])].join(", ");
  return { line1, line2, ...without(address) };
}

const without = ({ line1: _first, line2: _second, ...rest }: Record<string, string>): Record<string, string> => rest;

/** `address.city` of the row becomes `{ address: { city } }`. */
function nested(fields: ReadonlyMap<string, unknown>, prefix: string): Fields {
  const result: Fields = {};
  for (const [target, value] of fields) {
    if (!target.startsWith(prefix)) continue;
    const [first = "", second] = target.slice(prefix.length).split(".");
    if (second === undefined) result[first] = value;
    else result[first] = { ...(result[first] as Fields | undefined), [second]: value };
  }
  return result;
}

/** Two contacts cannot both come first in one place. */
function secondPrimary(parts: readonly Part[], { contacts }: Merged): string | undefined {
  const [contact] = parts.filter(({ add }) => add["isPrimary"] === true);
  if (!contact) return undefined;
  const place = foldName(String(contact.add["site"] ?? ""));
  const other = [...contacts.values()].find(
    (one) => one !== contact.into && one["isPrimary"] === true && foldName(String(one["site"] ?? "")) === place,
  );
  return other && `${contact.what}: ${contactLabel(other)} is the primary contact there already`;
}

function endBeforeStart({ into, add, what }: Part): string | undefined {
  const { contractStart: start, contractEnd: end } = { ...add, ...into };
  return typeof start === "string" && typeof end === "string" && end < start
    ? `${what}: contractEnd ${end} is before contractStart ${start}`
    : undefined;
}

function contradiction({ into, add, what, kind }: Part, origins: Origins, advice: Advice): string | undefined {
  for (const [field, value] of Object.entries(add)) {
    const before = into[field];
    const spelling = field === "name" || field === "site";
    if (before === undefined || spelling || stable(before) === stable(value)) continue;
    const earlier = `${valueText(before)} of line ${origins.get(into)?.get(field)}`;
    return `${what}: ${field} ${valueText(value)} contradicts ${earlier}: ${advice(`${kind}.${field}`)}`;
  }
  return undefined;
}

function merge(into: Fields, add: Fields, origins: Origins, line: number): void {
  const lines = origins.get(into) ?? new Map<string, number>();
  origins.set(into, lines);
  for (const [field, value] of Object.entries(add)) {
    if (into[field] !== undefined) continue;
    into[field] = value;
    lines.set(field, line);
  }
}
