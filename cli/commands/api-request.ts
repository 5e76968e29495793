import { didYouMean } from "#contract/core/suggest";
import type { EndpointInfo } from "#sdk/endpoint-info";
import type { RmmError } from "#sdk/errors";
import { endpoints } from "#sdk/generated/endpoints";
import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { withHint } from "../errors/hints.ts";
import { fileName, readText } from "../input/read-text.ts";
import { parseJson } from "../input/written.ts";
import { methodsAt, nearEndpoints } from "../near-endpoints.ts";

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** Flags of `rmm api`. */
export interface ApiOptions {
  field?: string[];
  typedField?: string[];
  input?: string;
  encoding?: string;
  paginate?: boolean;
  addHeader?: string[];
  include?: boolean;
  silent?: boolean;
}

/** The method by its name in any letter case. */
export function methodOf(given: string): Method {
  const method = methods.find((one) => one === given.toUpperCase());
  if (method) return method;
  throw usageError(
    `There is no method ${given}${didYouMean(given.toUpperCase(), methods)}`,
    `Methods: ${methods.join(", ")}`,
  );
}

/** Only paths of this server: a credential must not travel to another. */
export function pathOf(given: string): { path: string; query: Record<string, string> } {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(given))
    throw usageError("Give a path such as /devices; the server is chosen with --server");
  const url = new URL(given.startsWith("/") ? given : `/${given}`, "http://server");
  return { path: url.pathname.replace(/^\/api\/v1(?=\/|$)/, "") || "/", query: Object.fromEntries(url.searchParams) };
}

/** The endpoint of the contract that matches, or a generic one. */
export function endpointAt(method: Method, path: string): EndpointInfo {
  const matches = ({ path: pattern, method: of }: EndpointInfo) =>
    of === method && new RegExp(`^${pattern.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`).test(path);
  const unknown: EndpointInfo = {
    noun: "raw",
    verb: method.toLowerCase(),
    method,
    path,
    uuids: [],
    status: 200,
    transport: "json",
    kinds: ["user", "apiKey", "partnerKey"],
    idempotent: false,
    paging: null,
    secretBody: [],
    secretResult: [],
  };
  return everyEndpoint().find(matches) ?? unknown;
}

const everyEndpoint = (): EndpointInfo[] => Object.values(endpoints).flatMap((verbs) => Object.values(verbs));

/** An error about a path that the server does not have, or not with this method, with what was perhaps meant. */
export function withNearEndpoints(error: RmmError, method: Method, path: string): RmmError {
  const all = everyEndpoint();
  if (error.code === "METHOD_NOT_ALLOWED") {
    const methods = methodsAt(all, path);
    return withHint(error, methods.length === 0 ? undefined : `It takes ${methods.join(", ")}`);
  }
  if (error.code !== "ENDPOINT_NOT_FOUND") return error;
  const near = nearEndpoints(all, { method, path });
  return withHint(
    error,
    near.length === 0 ? "`rmm auth can-i --list` has every endpoint" : `There is ${near.join(", ")}`,
  );
}

const telling = /password|secret|token|^code$|api-?key/i;

/** Fields from arguments; secrets are refused. */
export function fieldsOf(options: ApiOptions, { secretBody }: EndpointInfo): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [list, typed] of [
    [options.field ?? [], false],
    [options.typedField ?? [], true],
  ] as const) {
    for (const one of list) {
      const at = one.indexOf("=");
      const name = at === -1 ? one : one.slice(0, at);
      if (at <= 0) throw usageError("-f takes name=value");
      if (secretBody.includes(name) || telling.test(name)) {
        throw usageError(
          `${name} is a secret and cannot be an argument`,
          "Give the body with --input - or --input <path>",
        );
      }
      fields[name] = typed ? parseJson(one.slice(at + 1), `-F ${name}`) : one.slice(at + 1);
    }
  }
  return fields;
}

/** The body from --input, from fields, or from both merged. */
export async function bodyOf(
  context: Context,
  method: Method,
  { input, encoding }: ApiOptions,
  fields: Record<string, unknown>,
): Promise<unknown> {
  if (input === undefined) return method === "GET" || Object.keys(fields).length === 0 ? undefined : fields;
  if (method === "GET") throw usageError("GET takes no body");
  const body = parseJson(await readText(context.shell, input, encoding, "--input"), fileName(input));
  if (Object.keys(fields).length === 0) return body;
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw usageError("-f goes with an object in --input");
  return { ...body, ...fields };
}
