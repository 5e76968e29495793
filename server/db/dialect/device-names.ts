import { type Expression, type ExpressionWrapper, expressionBuilder, type SqlBool } from "kysely";
import type { Scope } from "../scope.ts";
import { DEVICE_IS_NAMED, DEVICES_NAMED } from "./compilers.ts";
import { tenantMark } from "./tenant-mark.ts";
import { containsPattern } from "./text.ts";

/**
 * Names of devices in an index of trigrams (migration "fleet device names"): SQLite's own full-text index, on Postgres
 * an array with the usual index for arrays, which takes no extension. Every entry also has its organization and its
 * partner as words, so that a search meets only what the caller's tenant has, however many others have the same.
 */

/** What is searched of a device, with its bit for Postgres and its column in SQLite's index. */
const fields = {
  hostname: [1, "hostname"],
  displayName: [2, "display_name"],
  lastUser: [4, "last_user"],
} as const;

export type NameField = keyof typeof fields;

const GRAM = 3;

/** Shorter text has no trigram: it is looked for row by row (`contains`). */
export const isLongEnough = (needle: string): boolean => [...needle.toLowerCase()].length >= GRAM;

/** Where devices are looked for; the query that uses what is found narrows it to the caller's scope all the same. */
export type NamesOf = Scope | { readonly kind: "organization"; readonly orgId: string };

/** A search as its parameters. A type of its own, so that it fits `Given`. */
export type NameSearch = {
  /** SQLite: the expression of its index. */
  match: string;
  /** Postgres: the fields, the pattern, and the words that the index must have. */
  bits: number;
  pattern: string;
  words: string;
};

/** Devices of which one of the fields contains the text without regard to case; `isLongEnough` for it. */
export function nameSearch(needle: string, of: NamesOf, searched: readonly NameField[]): NameSearch {
  return searchFor([needle.toLowerCase()], containsPattern(needle), of, searched);
}

/**
 * Devices among which all are whose field contains the text by simple case folding (docs/filters.md), and some more;
 * undefined where the index cannot tell. Only of plain letters is it known what other characters fold to them: to `k` the
 * sign of kelvins, which the index has as `k`, to `s` the long `s`, which it has as it is.
 */
export function looseNameSearch(text: string, of: NamesOf, field: NameField): NameSearch | undefined {
  if (!/^[\0-\x7f]*$/.test(text)) return undefined;
  const parts = text
    .toLowerCase()
    .split("s")
    .filter((part) => part.length >= GRAM);
  return parts.length === 0 ? undefined : searchFor(parts, containsPattern(text).replaceAll("s", "_"), of, [field]);
}

function searchFor(parts: readonly string[], pattern: string, of: NamesOf, searched: readonly NameField[]): NameSearch {
  const columns = searched.map((name) => fields[name][1]).join(" ");
  const texts = parts.map((part) => `{${columns}} : "${part.replaceAll('"', '""')}"`);
  const [column, tenant] = tenantOf(of);
  const tenants = column === undefined ? [] : [`${column} : "${tenantMark(tenant)}"`];
  return {
    match: [...tenants, ...texts].join(" AND "),
    bits: searched.reduce((sum, name) => sum | fields[name][0], 0),
    pattern,
    words: JSON.stringify([...gramsOf(parts), ...(column === undefined ? [] : [`${column} ${tenant}`])]),
  };
}

function tenantOf(of: NamesOf): ["org" | "partner", string] | [undefined] {
  if (of.kind === "organization") return ["org", of.orgId];
  return of.kind === "partner" ? ["partner", of.partnerId] : [undefined];
}

function gramsOf(parts: readonly string[]): Set<string> {
  const grams = parts.flatMap((part) => {
    const points = [...part];
    return points.slice(GRAM - 1).map((_, index) => points.slice(index, index + GRAM).join(""));
  });
  return new Set(grams);
}

/** True for the ids of such devices. */
export function isNamed(id: Expression<string>, { match, bits, pattern, words }: NameSearch): Expression<SqlBool> {
  const eb = expressionBuilder<never, never>();
  return eb.fn<SqlBool>(DEVICE_IS_NAMED, [id, eb.val(match), eb.val(bits), eb.val(pattern), eb.val(words)]);
}

/** JSON of the ids of such devices, `most` of them: of more, any. */
export function idsNamed(search: NameSearch & { most: number }): ExpressionWrapper<never, never, string> {
  const { match, bits, pattern, words, most } = search;
  const eb = expressionBuilder<never, never>();
  return eb.fn<string>(DEVICES_NAMED, [eb.val(match), eb.val(bits), eb.val(pattern), eb.val(words), eb.val(most)]);
}
