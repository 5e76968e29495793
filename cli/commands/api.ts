import type { EndpointInfo } from "#sdk/endpoint-info";
import { RmmError } from "#sdk/errors";
import { type Page, pageOf } from "#sdk/paginate";
import { prepare } from "#sdk/prepare";
import { type Context, openContext } from "../context.ts";
import { missingInput, usageError } from "../errors/cli-error.ts";
import { maskSecrets } from "../generic/minted.ts";
import { requireShown, SECRET } from "../generic/secret-shown.ts";
import { encodingOption } from "../input/read-text.ts";
import { printResult } from "../output/print.ts";
import { deadSecret } from "../provisioning/replay.ts";
import type { Register } from "../register.ts";
import { writeTo } from "../shell.ts";
import { proving, takes, valued } from "../taken-flags.ts";
import { type Head, headersOf, headText } from "./api-headers.ts";
import {
  type ApiOptions,
  bodyOf,
  endpointAt,
  fieldsOf,
  methodOf,
  methods,
  pathOf,
  withNearEndpoints,
} from "./api-request.ts";

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** `rmm api METHOD PATH`: calls the API directly. Prints JSON and never asks for confirmation, not even before a DELETE. */
export const registerApi: Register = (command, run) => {
  takes(command, ...valued, ...proving, "dry-run", "idempotency-key");
  command
    .description("Call any path of the API and print its JSON answer. Nothing is asked, not even before DELETE")
    .argument("[method]", methods.join(", "))
    .argument("[path]", "relative to /api/v1")
    .usage("<method> <path> [flags]")
    .option("-f, --field <name=value>", "a text field: of the query for GET, of the body otherwise", collect)
    .option("-F, --typed-field <name=json>", "the same, its value read as JSON", collect)
    .option("--input <path>", "the body, from a file or -")
    .option(...encodingOption)
    .option("-H, --add-header <name:value>", "send a header; never one that proves who calls", collect)
    .option("-i, --include", "print the status and the headers of the answer before it; those of an error on stderr")
    .option("--silent", "print no answer: the exit code says how it went")
    .option("--paginate", "follow all pages and print one array")
    .addHelpText("before", examples)
    .action((method: string | undefined, path: string | undefined) =>
      run(async (shell, globals) => call(await openContext(shell, globals), method, path, command.opts<ApiOptions>())),
    );
};

const examples = `Examples:
  rmm api GET /devices -f status=offline --paginate
  rmm api POST /orgs/sites -f orgId=7f1c9d7e-3f1b-4c0a-9a53-0f4f1f1a2b3c -f name=HQ
  rmm api PATCH /orgs/sites/7f1c9d7e-3f1b-4c0a-9a53-0f4f1f1a2b3c --input change.json
  rmm api GET /orgs/sites/7f1c9d7e-3f1b-4c0a-9a53-0f4f1f1a2b3c -i
`;

async function call(
  context: Context,
  givenMethod: string | undefined,
  givenPath: string | undefined,
  options: ApiOptions,
): Promise<number> {
  const missing = [...(givenMethod ? [] : ["<method>"]), ...(givenPath ? [] : ["<path>"])];
  if (missing.length > 0) throw missingInput(missing);
  const method = methodOf(givenMethod!);
  const { path, query } = pathOf(givenPath!);
  const endpoint = endpointAt(method, path);
  const fields = fieldsOf(options, endpoint);
  const body = await bodyOf(context, method, options, fields);
  const input = { query: { ...query, ...(method === "GET" ? fields : {}) }, ...(body === undefined ? {} : { body }) };
  const headers = headersOf(options);
  if (options.include && options.paginate) throw usageError("-i shows one answer, and --paginate joins several");
  if (context.globals.dryRun) return showRequest(context, endpoint, path, input, headers);
  await requireSecretShown(context, endpoint, options);
  let head: Head | undefined;
  const onResponse = (answered: Head) => {
    head = answered;
  };
  const client = await context.client(endpoint.kinds.includes("public") ? "none" : "credential", { onResponse });
  const send = (page: Record<string, unknown>) =>
    client.request(
      method,
      path,
      { ...input, query: page },
      { signal: context.shell.signal, idempotencyKey: context.globals.idempotencyKey, headers },
    );
  const asked = options.paginate ? allPages(endpoint, input.query, send) : send(input.query);
  const result = await asked.catch(async (error: unknown) => {
    // An error leaves stdout empty.
    if (options.include && head) await writeTo(context.shell, "stderr", headText(head));
    throw error instanceof RmmError ? withNearEndpoints(error, method, path) : error;
  });
  await maskSecrets(
    context,
    endpoint.secretResult.flatMap((name) => secretAt(result, name)),
  );
  const state = head?.headers["idempotency-answer"];
  if (state !== undefined && state !== "current")
    await context.notice(`Warning: ${deadSecret(state === "gone" ? "gone" : "stale", "").message}`);
  if (options.include && head) await writeTo(context.shell, "stdout", headText(head));
  if (options.silent) return 0;
  const printed = {
    ...context,
    globals: { ...context.globals, json: context.globals.jq === undefined && !context.globals.ndjson },
  };
  await printResult(printed, result, { fields: [] });
  return 0;
}

/** Refuses to create a secret that would not be shown. */
async function requireSecretShown(context: Context, { secretResult }: EndpointInfo, { silent }: ApiOptions) {
  const secrets = secretResult.filter((name) => /^\w+$/.test(name));
  const hint = `Choose ${secrets.join(" or ")} too`;
  if (silent && secrets.length > 0)
    throw usageError("With --silent the new secret would not be shown anywhere: nothing was sent", hint);
  const sample = { id: "id", name: "name", ...Object.fromEntries(secrets.map((name) => [name, SECRET])) };
  await requireShown({ ...context, globals: { ...context.globals, json: true } }, { secrets, sample, hint });
}

const secretAt = (result: unknown, name: string): string[] => {
  const value = (result as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" ? [value] : [];
};

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
  given: Readonly<Record<string, string>>,
) {
  const base = `${context.settings.server.value}/api/v1`;
  const { idempotencyKey } = context.globals;
  const { method, url, headers, shownBody } = prepare(base, { ...endpoint, path }, input, {
    idempotencyKey,
    headers: given,
  });
  await printResult(
    { ...context, globals: { ...context.globals, json: true } },
    { method, url, headers, body: shownBody ?? null },
    { fields: [] },
  );
  return 0;
}
