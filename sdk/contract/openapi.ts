import type { CredentialKind } from "./core/access.ts";
import { type AnyEndpoint, nounOf, type Transport } from "./core/endpoint.ts";
import { errorTable, statusFor } from "./core/errors.ts";
import { possibleErrors } from "./core/possible-errors.ts";
import { allEndpoints, contract } from "./index.ts";
import { type JsonSchema, jsonSchemaOf } from "./json-schema.ts";
import { type Components, referenced } from "./openapi-components.ts";
import { webhooksOf } from "./openapi-webhooks.ts";

type Json = Record<string, unknown>;

const BASE = "/api/v1";

/** The whole API as an OpenAPI 3.1 document: what `GET /openapi.json` serves. */
export function buildOpenApi(): Json {
  const paths: Record<string, Json> = {};
  const schemas: Components = new Map();
  // What the server answers names the components; an input that reads differently gets a name of its own.
  for (const endpoint of allEndpoints()) success(endpoint, schemas);
  for (const endpoint of allEndpoints()) {
    const path = endpoint.path.replace(/:([A-Za-z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "rmm",
      version: "1.0.0",
      description: "Multi-tenant administration for remote monitoring and management.",
    },
    servers: [{ url: BASE }],
    tags: Object.values(contract).map((verbs) => ({ name: nounOf(verbs).name, description: nounOf(verbs).summary })),
    paths,
    webhooks: webhooksOf(schemas),
    components: {
      securitySchemes,
      schemas: { Error: errorSchema, ...Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) },
      responses: { Error: errorResponse },
      headers: { RequestId: requestIdHeader },
    },
  };
}

const securitySchemes = {
  bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A signed-in user." },
  apiKeyAuth: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key or partner key." },
  agentAuth: { type: "http", scheme: "bearer", description: "The token of an enrolled device." },
};

const schemeOf: Record<Exclude<CredentialKind, "public">, keyof typeof securitySchemes> = {
  user: "bearerAuth",
  apiKey: "apiKeyAuth",
  partnerKey: "apiKeyAuth",
  agent: "agentAuth",
};

const errorSchema = {
  type: "object",
  required: ["error", "code"],
  properties: {
    error: { type: "string", description: "public message" },
    code: { type: "string", enum: Object.keys(errorTable) },
    details: {},
  },
};

const requestIdHeader = { schema: { type: "string" }, description: "Repeats X-Request-Id, or names the request." };

const Location = { schema: { type: "string", format: "uri-reference" }, description: "Where to go on." };

const errorResponse = {
  description: "The request was refused or failed.",
  headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

const idempotencyHeader = {
  name: "X-Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key within 24 hours answers the first result again and does nothing.",
  schema: { type: "string", minLength: 8, maxLength: 128 },
};

function operation(endpoint: AnyEndpoint, schemas: Components): Json {
  const { access, audit } = endpoint;
  const { params, query, body } = endpoint.schemas();
  return {
    operationId: `${endpoint.noun}.${endpoint.verb}`,
    tags: [endpoint.noun],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    ...(endpoint.alsoAtRoot ? { servers: [{ url: BASE }, { url: "/" }] } : {}),
    security: access.kinds.flatMap((kind) => (kind === "public" ? [] : [{ [schemeOf[kind]]: [] }])),
    parameters: [
      ...parameters("path", params && jsonSchemaOf(params, "input")),
      ...parameters("query", query && jsonSchemaOf(query, "input")),
      ...(endpoint.idempotent ? [idempotencyHeader] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !endpoint.bodyOptional,
            content: { "application/json": { schema: referenced(body, "input", schemas) } },
          },
        }),
    responses: {
      [endpoint.status]: success(endpoint, schemas),
      ...Object.fromEntries(
        [...endpoint.otherStatuses, ...(endpoint.foundStatus === undefined ? [] : [endpoint.foundStatus])].map(
          (status) => [status, success(endpoint, schemas, { empty: status === 202 })],
        ),
      ),
      ...failures(endpoint),
    },
    "x-permission": access.permissions,
    "x-scopes": access.scopes,
    "x-mfa": access.mfa,
    "x-audit": typeof audit === "string" ? audit : null,
    "x-loses": endpoint.loses,
    "x-events": endpoint.emits,
    "x-events-in-some-cases": endpoint.mayEmit,
  };
}

function parameters(place: "path" | "query", schema: JsonSchema | undefined): Json[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...field }]) => ({
    name,
    in: place,
    required: place === "path" || (schema?.required ?? []).includes(name),
    ...(description === undefined ? {} : { description }),
    schema: field,
  }));
}

/** A redirect has no body. */
const mediaTypes: Record<Exclude<Transport, "redirect">, readonly string[]> = {
  json: ["application/json"],
  "json-rpc": ["application/json"],
  text: ["text/plain"],
  html: ["text/html"],
  csv: ["text/csv"],
  "json-or-csv": ["application/json", "text/csv"],
};

/** `empty`: what is only taken note of is answered without a body. */
function success(endpoint: AnyEndpoint, schemas: Components, { empty = false } = {}): Json {
  const { result } = endpoint.schemas();
  const redirects = endpoint.transport === "redirect";
  return {
    description: endpoint.summary,
    headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" }, ...(redirects ? { Location } : {}) },
    ...(result === undefined || redirects || empty
      ? {}
      : {
          content: Object.fromEntries(
            mediaTypes[endpoint.transport].map((type, at) => [
              type,
              { schema: at === 0 ? referenced(result, "output", schemas) : { type: "string" } },
            ]),
          ),
        }),
  };
}

/** One response per status, described by the codes that can stand in it. */
function failures(endpoint: AnyEndpoint): Json {
  const byStatus: Record<string, string[]> = {};
  for (const code of possibleErrors(endpoint)) {
    const status = String(statusFor(code, endpoint.access.kinds.includes("agent")));
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [
      status,
      { $ref: "#/components/responses/Error", description: codes.toSorted().join(", ") },
    ]),
  );
}
