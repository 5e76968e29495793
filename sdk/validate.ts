import type { AnyEndpoint } from "#contract/core/endpoint";
import type { EndpointInfo } from "./endpoint-info.ts";

/** One complaint of the schema library, with its own for each branch of a union. */
interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly input?: unknown;
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/**
 * Where an answer breaks the contract. Unknown fields are fine and so are unknown enum values: a newer server
 * may have them. Loads the contract, which nothing else in the SDK does.
 */
export async function answerIssues(info: EndpointInfo, answer: unknown): Promise<{ path: string; message: string }[]> {
  const { allEndpoints } = await import("#contract/index");
  const endpoint: AnyEndpoint | undefined = allEndpoints().find(
    (one) => one.noun === info.noun && one.verb === info.verb,
  );
  const schema = endpoint?.schemas().result;
  if (schema === undefined) return [];
  const outcome = schema.safeParse(answer, { reportInput: true });
  const issues = outcome.success ? [] : (outcome.error.issues as readonly SchemaIssue[]);
  return issues.filter((issue) => !isNews(issue)).map(({ path, message }) => ({ path: pathText(path), message }));
}

/** A string where other strings were known, or a union with a branch that only has such complaints. */
const isNews = (issue: SchemaIssue): boolean =>
  (issue.code === "invalid_value" && typeof issue.input === "string") ||
  (issue.code === "invalid_union" && (issue.errors ?? []).some((branch) => branch.length > 0 && branch.every(isNews)));

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index > 0 ? "." : ""}${String(step)}`))
    .join("");
