import { didYouMean } from "#contract/core/suggest";
import { usageError } from "../../errors/cli-error.ts";
import { foldName } from "../model.ts";
import type { Mapping } from "./mapping.ts";
import type { ReadRow } from "./merge-rows.ts";
import { proposeSlugs } from "./slugs.ts";

const NAMED_MAX = 5;

/**
 * The rows of one organization, found by slug or by name. Where no column names organizations, the file is of that
 * one alone: its rows get its slug, and no name, so that the one on the server keeps its own.
 */
export function chooseRows(rows: readonly ReadRow[], org: string, { columns }: Mapping): ReadRow[] {
  const slug = org.trim().toLowerCase();
  if (!columns.has("organization.name") && !columns.has("organization.slug")) {
    if (!/^[a-z0-9][a-z0-9_-]{0,99}$/.test(slug)) throw usageError(`--org: ${org} is not a slug`);
    return rows.map((row) => named(row, { slug, name: slug }));
  }
  const names = rows.map(nameOf);
  const proposed = proposeSlugs(names, new Set());
  const slugOf = (row: ReadRow) =>
    (row.fields.get("organization.slug") as string | undefined) ?? (proposed.get(foldName(nameOf(row))) as string);
  const bySlug = rows.filter((row) => slugOf(row) === slug);
  const found = bySlug.length > 0 ? bySlug : rows.filter((row) => foldName(nameOf(row)) === foldName(org));
  if (found.length === 0) {
    const all = [...new Set(names)];
    const more = all.length > NAMED_MAX ? ` and ${all.length - NAMED_MAX} more` : "";
    const hint = `The rows name ${all.slice(0, NAMED_MAX).join(", ")}${more}. --org chooses among them by slug or name`;
    throw usageError(`No row belongs to ${org}${didYouMean(org, all)}`, hint);
  }
  return found.map((row) => named(row, { slug: slugOf(row), name: nameOf(row) }));
}

const nameOf = ({ fields }: ReadRow): string =>
  String(fields.get("organization.name") ?? fields.get("organization.slug") ?? "");

function named(row: ReadRow, { slug, name }: { slug: string; name: string }): ReadRow {
  const fields = new Map(row.fields);
  fields.set("organization.name", name).set("organization.slug", slug);
  return { ...row, fields };
}
