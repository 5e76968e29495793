import { usageError } from "../../errors/cli-error.ts";
import { type CsvTable, type RefusedRow, type Remark, readTable } from "../../input/csv-table.ts";
import { decode } from "../../input/decode.ts";
import { isTotals, spreadsheetFault } from "../../input/spreadsheet.ts";
import { foldName } from "../model.ts";
import { adviceFor } from "./advice.ts";
import { chooseRows } from "./choose-rows.ts";
import { isHeading } from "./guess-columns.ts";
import { type Mapping, type MappingOptions, mappingOf } from "./mapping.ts";
import { type Merged, mergeRows, type ReadRow } from "./merge-rows.ts";
import { proposeSlugs } from "./slugs.ts";
import { type ReadOptions, targets } from "./targets.ts";

export interface ImportOptions extends MappingOptions, ReadOptions {
  /** Of the file, in messages. */
  readonly name?: string;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  /** Time zone of sites that are made, where their row names none. */
  readonly timezone?: string | undefined;
  /** Slug of the one organization to import; a file without a column of organizations is all of it. */
  readonly org?: string | undefined;
}

export interface Imported {
  readonly file: {
    readonly apiVersion: "rmm/v1";
    readonly newSites?: { readonly timezone: string };
    readonly organizations: readonly Record<string, unknown>[];
  };
  readonly encoding: string;
  readonly delimiter: string;
  readonly mapping: Mapping;
  readonly slugs: readonly { readonly slug: string; readonly name: string; readonly proposed: boolean }[];
  readonly refused: readonly RefusedRow[];
  /** What was taken otherwise than it may have been meant, or left out. */
  readonly remarks: readonly Remark[];
  readonly rows: number;
}

/** Turns what a PSA tool exported into a provisioning file. Where rows agree, their order makes no difference. */
export function importCustomers(bytes: Uint8Array, options: ImportOptions): Imported {
  const { name = "The file" } = options;
  const { text, encoding } = decode(bytes, { name, label: options.encoding, guess: true });
  const table = readTable(text, options.delimiter);
  refuseSecondHeading(table, name);
  const mapping = mappingOf(table, { ...options, oneOrganization: options.org !== undefined });
  const rows: ReadRow[] = [];
  const unreadable: RefusedRow[] = [];
  for (const record of table.records) {
    const read = readRow(record.cells, table.header, mapping, options);
    if ("reason" in read) unreadable.push({ line: record.line, reason: read.reason });
    else rows.push({ line: record.line, fields: read.fields });
  }
  const chosen = options.org === undefined ? rows : chooseRows(rows, options.org, mapping);
  const { organizations, refused, remarks } = mergeRows(chosen, adviceFor(mapping));
  const named = namedBySlug(organizations);
  return {
    file: {
      apiVersion: "rmm/v1",
      ...(options.timezone === undefined ? {} : { newSites: { timezone: options.timezone } }),
      organizations: named.kept.map((one) => entryOf(one, mapping)),
    },
    encoding,
    delimiter: table.delimiter,
    mapping,
    slugs: named.kept.map(({ slug, merged }) => ({
      slug,
      name: merged.name,
      proposed: merged.fields["slug"] === undefined,
    })),
    refused: [...table.refused, ...unreadable, ...refused, ...named.refused].toSorted(byLine),
    remarks: [...table.remarks, ...remarks].toSorted(byLine),
    rows: table.records.length + table.refused.length,
  };
}

/** Headings that were merged over several columns stand on two lines, and the second would be taken for a customer. */
function refuseSecondHeading({ header, records: [first] }: CsvTable, name: string): void {
  const cells = first?.cells.filter((cell) => cell !== "") ?? [];
  const headings = cells.filter(isHeading);
  if (first === undefined || headings.length < 2 || headings.length * 2 < cells.length) return;
  if (header.every((column, at) => column === (first.cells[at] ?? ""))) return;
  throw usageError(
    `${name}:${first.line}: a second line of headings: ${headings.join(", ")}`,
    "Keep one line of headings",
  );
}

const byLine = (a: { line: number }, b: { line: number }): number => a.line - b.line;

function readRow(
  cells: readonly string[],
  header: readonly string[],
  { columns, values }: Mapping,
  options: ReadOptions,
): { fields: Map<string, unknown> } | { reason: string } {
  const fields = new Map<string, unknown>();
  const reasons: string[] = [];
  if (header.every((column, at) => column === (cells[at] ?? ""))) return { reason: "repeats the headings" };
  for (const [target, names] of columns) {
    const joined = names
      .map((name) => cells[header.indexOf(name)] ?? "")
      .filter((cell) => cell !== "")
      .join(" ");
    if (joined === "") continue;
    const replaced = replacedBy(joined, target, values);
    if (replaced === "") continue;
    const fault = spreadsheetFault(replaced);
    const read = fault === undefined ? targets[target]!(replaced, options) : { reason: `"${replaced}" ${fault}` };
    const where = names.map((name) => `column ${header.indexOf(name) + 1} ${JSON.stringify(name)}`).join(", ");
    if ("reason" in read) reasons.push(`${target}: ${read.reason} (${where})`);
    else fields.set(target, read.value);
  }
  const named =
    columns
      .get("organization.name")
      ?.map((name) => cells[header.indexOf(name)] ?? "")
      .join(" ") ?? "";
  if (isTotals(cells) && fields.get("organization.name") === named)
    reasons.unshift(
      `${JSON.stringify(named)} seems to be a row of sums; a customer of that name: --map-value 'organization.name:${named}=…'`,
    );
  const nameless = columns.has("organization.name") && !fields.has("organization.name");
  if (nameless && reasons.length === 0) reasons.push("organization.name is empty");
  return reasons.length > 0 ? { reason: reasons.join("; ") } : { fields };
}

/** Roles are replaced one by one. */
function replacedBy(cell: string, target: string, values: Mapping["values"]): string {
  const known = values.get(target);
  if (!known) return cell;
  const one = (text: string) => known.get(text.trim().toLowerCase()) ?? known.get("*") ?? text;
  if (target !== "contact.roles" || known.has(cell.toLowerCase())) return one(cell);
  return cell
    .split(/[,;/|+]/)
    .map(one)
    .join(",");
}

interface Named {
  readonly slug: string;
  readonly merged: Merged;
}

/** Slugs of the file's own column win; two organizations that claim one are both refused a place but the first. */
function namedBySlug(organizations: readonly Merged[]): { kept: Named[]; refused: RefusedRow[] } {
  const given = new Set(
    organizations.flatMap(({ fields }) => (typeof fields["slug"] === "string" ? [fields["slug"]] : [])),
  );
  const without = organizations.filter(({ fields }) => fields["slug"] === undefined);
  const proposed = proposeSlugs(
    without.map(({ name }) => name),
    given,
  );
  const kept = new Map<string, Merged>();
  const refused: RefusedRow[] = [];
  for (const merged of organizations) {
    const slug = (merged.fields["slug"] as string | undefined) ?? (proposed.get(foldName(merged.name)) as string);
    const other = kept.get(slug);
    if (other)
      refused.push({ line: merged.line, reason: `slug ${slug} belongs to ${other.name} of line ${other.line}` });
    else kept.set(slug, merged);
  }
  return {
    kept: [...kept].map(([slug, merged]) => ({ slug, merged })).sort((a, b) => compare(a.slug, b.slug)),
    refused,
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const text = (fields: Record<string, unknown>, ...names: string[]) =>
  names.map((name) => String(fields[name] ?? "")).join("\u0000");

function entryOf(
  { slug, merged: { name, fields, sites, contacts } }: Named,
  { columns }: Mapping,
): Record<string, unknown> {
  const { slug: _column, ...own } = fields;
  const places = [...sites.values()].map(({ name: site, timezone, ...rest }) => ({
    name: site,
    ...(timezone === undefined ? {} : { timezone }),
    ...rest,
  }));
  const people = [...contacts.values()];
  return {
    slug,
    ...(columns.has("organization.name") ? { name } : {}),
    ...own,
    ...(places.length === 0 ? {} : { sites: places.sort((a, b) => compare(text(a, "name"), text(b, "name"))) }),
    ...(people.length === 0
      ? {}
      : {
          contacts: people.sort((a, b) =>
            compare(text(a, "site", "name", "email", "phone"), text(b, "site", "name", "email", "phone")),
          ),
        }),
  };
}
