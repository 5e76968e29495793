import type { z } from "zod";

export type ToldIssue = z.core.$ZodIssue;

/** What the library says where a schema has no words of its own. */
const unworded = /^(Invalid (input|option|key)|Too (small|big)|Unrecognized keys?)\b/;

/** What is wrong with a value, behind its path: as the schema says it, else in plain words instead of the library's. */
export function issueText(issue: ToldIssue): string {
  if (!unworded.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_value":
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(", ")}`;
    case "unrecognized_keys":
      return `takes no ${issue.keys.join(", ")}`;
    case "too_small":
      return sizeText(issue.origin, { word: "at least", edge: issue.minimum, beyond: "more than", ...issue });
    case "too_big":
      return sizeText(issue.origin, { word: "at most", edge: issue.maximum, beyond: "less than", ...issue });
    case "invalid_type":
      return issue.message.endsWith("received undefined")
        ? "is missing"
        : `must be ${kinds[issue.expected] ?? issue.expected}`;
    default:
      return issue.message;
  }
}

interface Size {
  readonly word: string;
  readonly beyond: string;
  readonly edge: number | bigint;
  readonly inclusive?: boolean | undefined;
}

function sizeText(origin: string, { word, beyond, edge, inclusive = true }: Size): string {
  const much = `${inclusive ? word : beyond} ${edge}`;
  if (origin === "string") return `must have ${much} character${Number(edge) === 1 ? "" : "s"}`;
  if (origin === "array" || origin === "set") return `must have ${much} ${Number(edge) === 1 ? "entry" : "entries"}`;
  return `must be ${much}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};
