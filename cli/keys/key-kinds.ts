import { didYouMean } from "#contract/core/suggest";
import { usageError } from "../errors/cli-error.ts";

/** Kinds of machine credentials, by their names in `--kind`. */
export const keyKinds = ["api-key", "service-principal", "partner-key", "enrollment-key"] as const;
export type KeyKind = (typeof keyKinds)[number];

export const kindNames: Record<KeyKind, string> = {
  "api-key": "API key",
  "service-principal": "service principal's key",
  "partner-key": "partner key",
  "enrollment-key": "enrollment key",
};

const others: Record<string, KeyKind> = {
  api: "api-key",
  "service-key": "service-principal",
  service: "service-principal",
  partner: "partner-key",
  "partner-service-principal": "partner-key",
  enrollment: "enrollment-key",
};

/** Parses `--kind`, which may be repeated, have commas and use plurals. Undefined if not given. */
export function kindsOf(given: readonly string[] | undefined): KeyKind[] | undefined {
  if (given === undefined) return undefined;
  const words = given.flatMap((one) => one.split(",")).map((one) => one.trim().toLowerCase().replace(/s$/, ""));
  const kinds = words.map((word) => {
    const found = keyKinds.find((kind) => kind === word) ?? (Object.hasOwn(others, word) ? others[word] : undefined);
    if (found !== undefined) return found;
    throw usageError(`--kind must be one of ${keyKinds.join(", ")}${didYouMean(word, keyKinds)}`);
  });
  return keyKinds.filter((kind) => kinds.includes(kind));
}
