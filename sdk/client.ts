import { notRmmServer } from "./answer-error.ts";
import { apiBase } from "./base-url.ts";
import { ApiCall, ListCall } from "./call.ts";
import type { Answer, Core } from "./core.ts";
import { credentialOf } from "./credential.ts";
import type { EndpointInfo } from "./endpoint-info.ts";
import { ResponseInvalidError, ValidationError } from "./errors.ts";
import { execute } from "./execute.ts";
import { endpoints } from "./generated/endpoints.ts";
import type { Methods } from "./generated/methods.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { firstQuery, type Page, pageOf } from "./paginate.ts";
import type { CallInput } from "./prepare.ts";
import type { SessionTokens, TokenPairAnswer } from "./session.ts";
import { fetchTransport } from "./transport.ts";

/** The client: one method per endpoint, named by noun and verb, and the methods below. */
export interface RmmClient extends Methods {
  /** The session of a user client. */
  readonly auth: {
    /** Goes on with these tokens: call it with the answer of `sessions.login`, `mfa.verify` or `users.acceptInvite`. */
    adopt(tokens: TokenPairAnswer | SessionTokens): Promise<void>;
    forget(): Promise<void>;
  };
  /** Any path of the API, relative to `/api/v1`; an endpoint of the contract keeps its retries and its secrets. */
  request(
    method: EndpointInfo["method"],
    path: string,
    input?: Pick<CallInput, "query" | "body">,
    options?: CallOptions,
  ): ApiCall<unknown>;
}

/**
 * Makes a client. Nothing is sent until a method is called; without credentials only public endpoints work.
 *
 * @example
 * const rmm = createClient({ baseUrl: "https://rmm.example", credentials: { store } });
 * for await (const device of rmm.devices.list({ query: { status: "online" } })) console.log(device.hostname);
 */
export function createClient(options: ClientOptions): RmmClient {
  const core = coreOf(options);
  const nouns = Object.entries(endpoints).map(([noun, verbs]) => [
    noun,
    Object.fromEntries(Object.entries(verbs).map(([verb, endpoint]) => [verb, methodOf(core, endpoint)])),
  ]);
  const { session } = core.credential;
  const needSession = () => {
    if (session === undefined) throw new TypeError("This client has no user session");
    return session;
  };
  return Object.assign(Object.fromEntries(nouns) as Methods, {
    auth: {
      adopt: async (tokens: TokenPairAnswer | SessionTokens) => needSession().adopt(tokens),
      forget: async () => needSession().forget(),
    },
    request: (
      method: EndpointInfo["method"],
      path: string,
      input: Pick<CallInput, "query" | "body"> = {},
      callOptions: CallOptions = {},
    ) => {
      const { pathname, search } = new URL(path.replace(/^\/*/, "/"), "http://host");
      const query = { ...Object.fromEntries(new URLSearchParams(search)), ...input.query };
      return callOf(core, endpointAt(method, pathname), { ...input, query }, callOptions);
    },
  });
}

function coreOf(options: ClientOptions): Core {
  const now = options?.now ?? Date.now;
  const base = apiBase(options?.baseUrl);
  const core: Core = {
    base,
    address: base.replace(/\/api\/v1$/, ""),
    transport: options.transport ?? fetchTransport(options.fetch),
    credential: credentialOf(options.credentials, (refreshToken) => refresh(refreshToken), now),
    options,
    hooks: options.hooks ?? {},
    now,
    random: options.random ?? Math.random,
    deprecated: new Set(),
  };
  const refresh = async (refreshToken: string) => {
    const { text } = await execute(core, known("sessions", "refresh"), { body: { refreshToken } }, {}, false);
    return JSON.parse(text) as TokenPairAnswer;
  };
  return core;
}

const known = (noun: string, verb: string): EndpointInfo => endpoints[noun]?.[verb] as EndpointInfo;

function methodOf(core: Core, endpoint: EndpointInfo) {
  return (input: CallInput = {}, options: CallOptions = {}) =>
    endpoint.paging === null ? callOf(core, endpoint, input, options) : listOf(core, endpoint, input, options);
}

function callOf(core: Core, endpoint: EndpointInfo, input: CallInput, options: CallOptions): ApiCall<unknown> {
  return new ApiCall(
    (streamed) => sendValid(core, endpoint, input, options, streamed),
    (answer) => read(core, endpoint, answer, options),
  );
}

function listOf(
  core: Core,
  endpoint: EndpointInfo,
  input: CallInput,
  options: CallOptions,
): ListCall<unknown, unknown> {
  const query = firstQuery(endpoint, input.query);
  const fetchPage = (next: CallInput["query"]): Promise<Page<unknown>> =>
    listOf(core, endpoint, { ...input, query: next }, options).then((page) => page);
  return new ListCall(
    (streamed) => sendValid(core, endpoint, { ...input, query }, options, streamed),
    async (answer) => pageOf(endpoint, query, await read(core, endpoint, answer, options), fetchPage),
  );
}

/** With `validate: "strict"` a request that breaks the contract never leaves. */
async function sendValid(
  core: Core,
  endpoint: EndpointInfo,
  input: CallInput,
  options: CallOptions,
  streamed: boolean,
): Promise<Answer> {
  if ((options.validate ?? core.options.validate) === "strict") {
    const { requestIssues } = await import("./validate.ts");
    const issues = await requestIssues(endpoint, input);
    if (issues.length > 0) {
      throw new ValidationError(issues.map(({ message }) => message).join("; "), {
        code: "VALIDATION_ERROR",
        outcome: "not_sent",
        operation: `${endpoint.noun}.${endpoint.verb}`,
        details: issues,
      });
    }
  }
  return execute(core, endpoint, input, options, streamed);
}

/** Parses the body, validates it if configured, and stores a new token pair of the client's session. */
async function read(core: Core, endpoint: EndpointInfo, answer: Answer, options: CallOptions): Promise<unknown> {
  if (isText(endpoint, answer)) return answer.text;
  const result = parsed(core, endpoint, answer);
  await check(core, endpoint, answer, result, options);
  const { session } = core.credential;
  if (session !== undefined && endpoint.kinds.includes("user") && isTokenPair(result)) await session.adopt(result);
  return result;
}

const isText = ({ transport }: EndpointInfo, { response }: Answer): boolean =>
  transport === "json-or-csv"
    ? /^text\/csv\b/i.test(response.headers.get("content-type") ?? "")
    : transport !== "json" && transport !== "json-rpc" && transport !== "redirect";

function parsed(core: Core, endpoint: EndpointInfo, { response, text }: Answer): unknown {
  if (endpoint.transport === "redirect") return { location: response.headers.get("location") };
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw notRmmServer(response, core.address, {
      status: response.status,
      requestId: response.headers.get("x-request-id") ?? undefined,
      outcome: endpoint.method === "GET" ? "rejected" : "unknown",
      operation: `${endpoint.noun}.${endpoint.verb}`,
    });
  }
}

async function check(
  core: Core,
  endpoint: EndpointInfo,
  { response }: Answer,
  result: unknown,
  options: CallOptions,
): Promise<void> {
  const validate = options.validate ?? core.options.validate ?? "off";
  if (validate === "off") return;
  const { answerIssues } = await import("./validate.ts");
  const issues = await answerIssues(endpoint, result);
  if (issues.length === 0) return;
  const operation = `${endpoint.noun}.${endpoint.verb}`;
  const text = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  if (validate === "strict") throw invalid(endpoint, response, `The answer breaks the contract: ${text}`, issues);
  if (core.hooks.onInvalidResponse) core.hooks.onInvalidResponse({ operation, issues });
  else console.warn(`rmm: the answer of ${operation} breaks the contract: ${text}`);
}

function invalid(endpoint: EndpointInfo, response: Answer["response"], message: string, details?: unknown) {
  return new ResponseInvalidError(message, {
    status: response.status,
    code: "INVALID_RESPONSE",
    requestId: response.headers.get("x-request-id") ?? undefined,
    outcome: endpoint.method === "GET" ? "rejected" : "unknown",
    operation: `${endpoint.noun}.${endpoint.verb}`,
    details,
  });
}

const isTokenPair = (value: unknown): value is TokenPairAnswer =>
  typeof value === "object" && value !== null && "accessToken" in value && "refreshToken" in value;

/** The endpoint of the contract that a raw path reaches, or an unknown one that any credential may try. */
function endpointAt(method: EndpointInfo["method"], path: string): EndpointInfo {
  const all = Object.values(endpoints).flatMap((verbs) => Object.values(verbs));
  const found = all.find(
    (one) =>
      one.method === method && new RegExp(`^${one.path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+")}$`).test(path),
  );
  const unknown: EndpointInfo = {
    noun: "raw",
    verb: method,
    method,
    path,
    uuids: [],
    status: 200,
    transport: "json",
    kinds: ["user", "apiKey", "partnerKey", "agent"],
    idempotent: false,
    paging: null,
    secretBody: [],
    secretResult: [],
  };
  return { ...(found ?? unknown), path };
}
