import type { RefName } from "#contract/core/generated/refs";
import { kinds } from "../generated/kinds.ts";
import { spellingOf } from "../noun-aliases.ts";
import { shellText } from "./samples.ts";

const wordsOf = (field: string): string => field.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();

/** `hostname, display name or id`: what the command line accepts in place of an id, and looks up. */
export const calledOne = (ref: RefName): string | undefined => called(ref, (word) => word);
export const calledMany = (ref: RefName): string | undefined => called(ref, (word) => `${word}s`);

function called(ref: RefName, form: (word: string) => string): string | undefined {
  const { names = [], org } = kinds[ref] ?? {};
  if (names.length === 0) return undefined;
  const words = names.map((name) => form(wordsOf(name)));
  const id = form("id");
  return org === "needed" ? `${words.join(" or ")} (with --org), or ${id}` : `${words.join(", ")} or ${id}`;
}

/** A name of such a row, for an example, as a shell takes it. */
export function sampleOf(ref: RefName): string | undefined {
  const example = kinds[ref]?.example;
  return example === undefined ? undefined : shellText(example);
}

/** `webhooks deliveries`: the command that lists such rows. */
export function listCommandOf(ref: RefName): string | undefined {
  const { noun, list } = kinds[ref] ?? {};
  return list ? `${spellingOf(noun ?? "")} ${list}` : undefined;
}
