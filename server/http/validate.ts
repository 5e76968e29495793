import type { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { issueText } from "#contract/core/issue-words";
import { invalid, problem } from "#server/problem";
import { dropMasked } from "./drop-masked.ts";

export interface Input {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** Path, query and body against the contract; the first part that is wrong is answered whole. */
export function validate(endpoint: AnyEndpoint, given: Input): Input {
  const { params, query, body } = endpoint.schemas();
  const clean = {
    params: params ? check(params, given.params, "") : {},
    query: query ? check(query, given.query, "") : {},
    body: undefined as unknown,
  };
  if (!body) return clean;
  const changes = !endpoint.bodyOptional && (endpoint.method === "PATCH" || endpoint.method === "PUT");
  if (given.body === undefined && changes) throw problem("NO_UPDATES");
  if (given.body === undefined && !endpoint.bodyOptional) throw invalid({ path: "", message: "A JSON body is needed" });
  clean.body = check(body, given.body === undefined ? {} : given.body, "");
  // A report of which nothing can be used is no fault of who sends it on.
  if (changes && endpoint.from === "person" && isEmptyObject(clean.body)) throw problem("NO_UPDATES");
  dropMasked(endpoint, clean.body);
  return clean;
}

const isEmptyObject = (value: unknown) =>
  value !== null && typeof value === "object" && Object.values(value).every((field) => field === undefined);

function check(schema: z.ZodType, value: unknown, prefix: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(
    ...result.error.issues.slice(0, 50).map((issue) => {
      const path = pathText(issue.path, prefix);
      const text = issueText(issue);
      return { path, message: path === "" ? text : `${path}: ${text}` };
    }),
  );
}

/** `rows[0].email` */
function pathText(path: readonly PropertyKey[], prefix: string): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    prefix,
  );
}

/**
 * A query as plain strings. A key given twice is refused, because either value would be a guess. `lenient` ignores such
 * a key instead: a browser in the middle of a redirect is always sent on, never shown an error.
 */
export function readQuery(search: string, lenient = false): Record<string, string> {
  if (search === "") return {};
  const query: Record<string, string> = Object.create(null);
  const given = new URLSearchParams(search);
  for (const [name, value] of given) {
    if (lenient && (value.includes("\u0000") || given.getAll(name).length > 1)) continue;
    if (value.includes("\u0000")) throw invalid({ path: name, message: `${name} must not hold the character U+0000` });
    if (name in query) throw invalid({ path: name, message: `${name} is given more than once` });
    query[name] = value;
  }
  return { ...query };
}
