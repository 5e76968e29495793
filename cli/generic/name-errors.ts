import { foldName } from "#contract/core/characters";
import { canonicalEmail } from "#contract/core/email";
import { suggestions } from "#contract/core/suggest";
import { CliError } from "../errors/cli-error.ts";

/** Addresses meet in their one form, names and slugs in that which decides whether two are the same. */
const fold = (text: string): string => canonicalEmail(text) ?? foldName(text);
export const sameName = (a: string, b: string): boolean => fold(a) === fold(b);

const codeOf = (what: string): string => what.toUpperCase().replaceAll(" ", "_");

export function unknownName(what: string, name: string, candidates: readonly string[], otherwise?: string): CliError {
  const close = suggestions(name, candidates);
  return new CliError(`There is no ${what} ${name}`, {
    exit: "notFound",
    code: `UNKNOWN_${codeOf(what)}`,
    hint: close.length > 0 ? `Did you mean ${close.join(" or ")}?` : otherwise,
  });
}

/** `contoso-dental?` of the hint of such an error, for a message that says it in parentheses. */
export const meantIn = (hint: string | undefined): string | undefined => /^Did you mean (.+\?)$/.exec(hint ?? "")?.[1];

/** Whether the organization tells any of these rows from the others. */
export const areApart = (rows: readonly { readonly orgId?: unknown; readonly orgName?: unknown }[]): boolean =>
  new Set(rows.map(({ orgId, orgName }) => orgId ?? orgName)).size > 1;

/** `more`: what else than the id says which one is meant. */
export const ambiguousName = (
  what: string,
  name: string,
  candidates: readonly string[],
  more: readonly string[] = [],
): CliError =>
  new CliError(`More than one ${what} is called ${name}`, {
    exit: "usage",
    code: `AMBIGUOUS_${codeOf(what)}`,
    details: candidates,
    hint: ["Give its id instead", ...more].join(", or "),
  });
