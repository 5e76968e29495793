import { readFile } from "node:fs/promises";
import type { EndpointInfo } from "#sdk/endpoint-info";
import { endpoints } from "#sdk/generated/endpoints";
import { type Page, pageOf } from "#sdk/paginate";
import { prepare } from "#sdk/prepare";
import { type Context, openContext } from "../context.ts";
import { missingInput, usageError } from "../errors/cli-error.ts";
import { maskSecrets } from "../generic/minted.ts";
import { printResult } from "../output/print.ts";
import { readStdin } from "../profile/secret-text.ts";
import type { Register } from "../program.ts";
import { didYouMean } from "../suggest.ts";

interface Options {
  field?: string[];
  typedField?: string[];
  header?: boolean | string[];
  input?: string;
  paginate?: boolean;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof methods)[number];

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** `rmm api METHOD PATH`: the API as it is. Prints JSON; asks nothing, not even before a DELETE. */
export const registerApi: Register = (command, run) => {
  command
    .description("Call any path of the API and print its JSON answer. Nothing is asked, not even before DELETE")
    .argument("[method]", methods.join(", "))
    .argument("[path]", "relative to /api/v1")
    .usage("<method> <path> [flags]")
    .option("-f, --field <name=value>", "a text field: of the query for GET, of the body otherwise", collect)
    .option("-F, --typed-field <name=json>", "the same, its value read as JSON", collect)
    .option("--input <path>", "the body, from a file or -")
    .option("--paginate", "follow all pages and print one array")
    .addHelpText("before", examples)
    .action((method: string | undefined, path: string | undefined) =>
      run(async (shell, globals) => call(await openContext(shell, globals), method, path, command.opts<Options>())),
    );
};

const examples = `Examples:
  rmm api GET /devices -f status=offline --paginate
  rmm api POST /orgs/sites -f orgId=<id> -f name=HQ
  rmm api PATCH /orgs/sites/<id> --input change.json
`;

async function call(
  context: Context,
  givenMethod: string | undefined,
  givenPath: string | undefined,
  options: Options,
): Promise<number> {
  const missing = [...(givenMethod ? [] : ["<method>"]), ...(givenPath ? [] : ["<path>"])];
  if (missing.length > 0) throw missingInput(missing);
  const method = methodOf(givenMethod!);
  const { path, query } = pathOf(givenPath!);
  const endpoint = endpointAt(method, path);
  const fields = fieldsOf(options, endpoint);
  const body = await bodyOf(context, method, options, fields);
  const input = { query: { ...query, ...(method === "GET" ? fields : {}) }, ...(body === undefined ? {} : { body }) };
  if (context.globals.dryRun) return showRequest(context, endpoint, path, input);
  const client = await context.client(endpoint.kinds.includes("public") ? "none" : "credential");
  const send = (page: Record<string, unknown>) =>
    client.request(
      method,
      path,
      { ...input, query: page },
      { signal: context.shell.signal, idempotencyKey: context.globals.idempotencyKey },
    );
  const result = options.paginate ? await allPages(endpoint, input.query, send) : await send(input.query);
  await maskSecrets(
    context,
    endpoint.secretResult.flatMap((name) => secretAt(result, name)),
  );
  const printed = {
    ...context,
    globals: { ...context.globals, json: context.globals.jq === undefined && !context.globals.ndjson },
  };
  await printResult(printed, result, { fields: [] });
  return 0;
}

const secretAt = (result: unknown, name: string): string[] => {
  const value = (result as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" ? [value] : [];
};

function methodOf(given: string): Method {
  const method = methods.find((one) => one === given.toUpperCase());
  if (method) return method;
  throw usageError(
    `There is no method ${given}${didYouMean(given.toUpperCase(), methods)}`,
    `Methods: ${methods.join(", ")}`,
  );
}

/** Only paths of this server: a credential must not travel to another. */
function pathOf(given: string): { path: string; query: Record<string, string> } {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(given))
    throw usageError("Give a path such as /devices; the server is chosen with --server");
  const url = new URL(given.startsWith("/") ? given : `/${given}`, "http://server");
  return { path: url.pathname.replace(/^\/api\/v1(?=\/|$)/, "") || "/", query: Object.fromEntries(url.searchParams) };
}

/** The endpoint of the contract that is called, or one that no one knows. */
function endpointAt(method: Method, path: string): EndpointInfo {
  const all = Object.values(endpoints).flatMap((verbs) => Object.values(verbs));
  const matches = ({ path: pattern, method: of }: EndpointInfo) =>
    of === method && new RegExp(`^${pattern.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`).test(path);
  const unknown: EndpointInfo = {
    noun: "raw",
    verb: method.toLowerCase(),
    method,
    path,
    status: 200,
    transport: "json",
    kinds: ["user", "apiKey", "partnerKey"],
    idempotent: false,
    paging: null,
    secretBody: [],
    secretResult: [],
  };
  return all.find(matches) ?? unknown;
}

const telling = /password|secret|token|^code$|api-?key/i;

function fieldsOf(options: Options, { secretBody }: EndpointInfo): Record<string, unknown> {
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
      fields[name] = typed ? parsed(one.slice(at + 1), `-F ${name}`) : one.slice(at + 1);
    }
  }
  return fields;
}

async function bodyOf(
  context: Context,
  method: Method,
  { input }: Options,
  fields: Record<string, unknown>,
): Promise<unknown> {
  if (input === undefined) return method === "GET" || Object.keys(fields).length === 0 ? undefined : fields;
  if (method === "GET") throw usageError("GET takes no body");
  const text = input === "-" ? await readStdin(context.shell) : await readInput(input);
  const body = parsed(text, "--input");
  if (Object.keys(fields).length === 0) return body;
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw usageError("-f goes with an object in --input");
  return { ...body, ...fields };
}

const readInput = (path: string): Promise<string> =>
  readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(`Cannot read ${path}: ${error.code}`);
  });

function parsed(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${source} must be JSON`);
  }
}

async function allPages(
  endpoint: EndpointInfo,
  query: Record<string, unknown>,
  send: (query: Record<string, unknown>) => PromiseLike<unknown>,
): Promise<unknown[]> {
  const paged = { ...endpoint, paging: endpoint.paging ?? ({ kind: "page", items: "data" } as const) };
  const page = async (next: Readonly<Record<string, unknown>>): Promise<Page<unknown>> =>
    pageOf(paged, next, await send(next), page);
  const cursor = paged.paging.kind === "cursor" && query["page"] === undefined ? { cursor: "", ...query } : query;
  return (await page(cursor)).toArray();
}

async function showRequest(
  context: Context,
  endpoint: EndpointInfo,
  path: string,
  input: { query: Record<string, unknown>; body?: unknown },
) {
  const base = `${context.settings.server.value}/api/v1`;
  const { idempotencyKey } = context.globals;
  const { method, url, headers, shownBody } = prepare(base, { ...endpoint, path }, input, { idempotencyKey });
  await printResult(
    { ...context, globals: { ...context.globals, json: true } },
    { method, url, headers, body: shownBody ?? null },
    { fields: [] },
  );
  return 0;
}
