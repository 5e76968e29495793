import type { AnyEndpoint } from "#contract/core/endpoint";
import { jsonFaults } from "#contract/core/exact-json";
import { issueText, type ToldIssue } from "#contract/core/issue-words";
import type { EndpointInfo } from "./endpoint-info.ts";
import type { Issue } from "./errors.ts";
import { type CallInput, sentQuery } from "./prepare.ts";

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
export async function answerIssues(info: EndpointInfo, answer: unknown): Promise<Issue[]> {
  const schema = (await endpointOf(info))?.schemas().result;
  if (schema === undefined) return [];
  const outcome = schema.safeParse(answer, { reportInput: true });
  const issues = outcome.success ? [] : (outcome.error.issues as readonly SchemaIssue[]);
  return issues.filter((issue) => !isNews(issue)).map(({ path, message }) => ({ path: pathText(path), message }));
}

/** The same limit as the server's. */
const ISSUES_MAX = 50;

/**
 * Where a request breaks the contract, with the paths and words of the server's 400: of path, query and body the
 * first that is wrong. Rules that take a clock, the caller or a stored row are the server's alone.
 */
export async function requestIssues(info: EndpointInfo, input: CallInput): Promise<Issue[]> {
  const endpoint = await endpointOf(info);
  if (endpoint === undefined) return [];
  const { params, query, body } = endpoint.schemas();
  const sent: unknown = input.body === undefined ? undefined : JSON.parse(JSON.stringify(input.body));
  // The server replaces such text in reports of machines.
  const scrubbed = endpoint.from === "machine";
  const faults = sent === undefined || scrubbed ? [] : jsonFaults(JSON.stringify(sent));
  if (faults.length > 0) return faults.map(({ path, message }) => ({ path, message }));
  const parts = [
    [params, input.params ?? {}],
    [query, Object.fromEntries(sentQuery(input.query ?? {}))],
    [sent === undefined ? undefined : body, sent],
  ] as const;
  for (const [schema, value] of parts) {
    const outcome = schema?.safeParse(value);
    if (outcome !== undefined && !outcome.success) {
      return outcome.error.issues.slice(0, ISSUES_MAX).map(told);
    }
  }
  return [];
}

async function endpointOf(info: EndpointInfo): Promise<AnyEndpoint | undefined> {
  const { allEndpoints } = await import("#contract/index");
  return allEndpoints().find((one) => one.noun === info.noun && one.verb === info.verb);
}

const told = (issue: ToldIssue): Issue => {
  const [where, text] = [pathText(issue.path), issueText(issue)];
  return { path: where, message: where === "" ? text : `${where}: ${text}` };
};

/** A string where other strings were known, or a union with a branch that only has such complaints. */
const isNews = (issue: SchemaIssue): boolean =>
  (issue.code === "invalid_value" && typeof issue.input === "string") ||
  (issue.code === "invalid_union" && (issue.errors ?? []).some((branch) => branch.length > 0 && branch.every(isNews)));

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index > 0 ? "." : ""}${String(step)}`))
    .join("");
