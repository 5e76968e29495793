import { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { possibleErrors } from "#contract/core/possible-errors";
import { contract } from "#contract/index";
import { type Example, examples } from "#fixtures/examples";
import { seedTenant, seedWorld, type Tenant, type World } from "#fixtures/world";
import { sentQuery } from "#sdk/prepare";
import type { Environment } from "#server/config";
import {
  type Answer,
  type DatabaseName,
  type SignedInUser,
  startTestServer,
  type TestOptions,
  type TestServer,
  type TestUser,
} from "../harness.ts";
import { strictly } from "./strictly.ts";

/** One endpoint with its example, named `noun.verb`. */
export interface Case {
  name: string;
  endpoint: AnyEndpoint;
  example(tenant: Tenant): Example;
}

/** Every endpoint of the contract. */
export const cases: readonly Case[] = Object.entries(contract).flatMap(([noun, resource]) =>
  Object.entries(resource as Record<string, AnyEndpoint>).map(([verb, endpoint]) => ({
    name: `${noun}.${verb}`,
    endpoint,
    example: (examples as unknown as Record<string, Record<string, Case["example"]>>)[noun]?.[verb] as Case["example"],
  })),
);

export const forUsers = cases.filter(({ endpoint }) => endpoint.access.kinds.includes("user"));

export interface Swept {
  server: TestServer;
  world: World;
  /** A tenant that no other test uses: success cases change what they find. */
  freshTenant(): Promise<Tenant>;
  call(item: Case, options: CallOptions): Promise<Answer>;
  /** A caller of this scope in a tenant; every permission and MFA unless the options say otherwise. */
  caller(scope: ScopeName, tenant: Tenant, options?: Partial<TestUser>): Promise<SignedInUser>;
}

export type ScopeName = "system" | "partner" | "organization";

export interface CallOptions {
  tenant: Tenant;
  token?: string | undefined;
  headers?: Record<string, string>;
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  /** Takes the place of the example's query instead of joining it. */
  onlyQuery?: boolean;
  body?: unknown;
}

export async function startSweep(
  database: DatabaseName,
  options: TestOptions = {},
  env: Environment = {},
): Promise<Swept> {
  // One address stands for a whole fleet here.
  const server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000", ...env }, options);
  const world = await seedWorld(server.db, server.services);
  let made = 0;
  return {
    server,
    world,
    freshTenant() {
      made += 1;
      return seedTenant(server.db, server.services, `fresh-${made}`);
    },
    async call(item, options) {
      const answer = await ask(server, item, options);
      refuseUndeclared(item.endpoint, answer);
      return answer;
    },
    caller: (scope, tenant, options = {}) => signIn(server, scope, tenant, options),
  };
}

async function signIn(
  server: TestServer,
  scope: ScopeName,
  tenant: Tenant,
  options: Partial<TestUser>,
): Promise<SignedInUser> {
  if (scope === "system") return server.signIn({ role: "System Admin", ...options });
  if (scope === "partner") return server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId, ...options });
  return server.signIn({ role: "Org Admin", orgId: tenant.orgId, ...options });
}

/** What a request of this endpoint proves itself with: a token or a key with every right it needs; nothing where it is public. */
export async function credentialOf(
  swept: Pick<Swept, "caller">,
  item: Case,
  tenant: Tenant,
): Promise<Pick<CallOptions, "token" | "headers">> {
  const { kinds } = item.endpoint.access;
  if (kinds.includes("public")) return {};
  if (kinds.includes("agent")) return { token: tenant.agentToken };
  if (kinds.includes("user")) return { token: (await swept.caller(scopeOfExample(item, tenant), tenant)).token };
  return { headers: { "x-api-key": tenant.partnerKey } };
}

/** The scope an example runs under. */
export function scopeOfExample(item: Case, tenant: Tenant): ScopeName {
  const { as } = item.example(tenant);
  if (as !== undefined && as !== "agent") return as;
  const { scopes } = item.endpoint.access;
  return scopes.includes("partner") ? "partner" : (scopes[0] as ScopeName);
}

/** Sends an example, changed as the options say; judges nothing. */
export function ask(server: TestServer, item: Case, options: CallOptions): Promise<Answer> {
  const example = item.example(options.tenant);
  const params: Record<string, string> = { ...(example.params as object), ...options.params };
  const path = item.endpoint.path.replace(/:([A-Za-z]+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? `missing-${name}`),
  );
  const query = new URLSearchParams(
    sentQuery({ ...(options.onlyQuery ? {} : (example.query as object)), ...options.query }),
  );
  const body = "body" in options ? options.body : example.body;
  return server.request(item.endpoint.method, query.size > 0 ? `${path}?${query}` : path, {
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(body === undefined ? {} : { body }),
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  });
}

/** Every answer of every sweep is held to the contract: its shape, its status, its error codes. */
function refuseUndeclared(endpoint: AnyEndpoint, answer: Answer): void {
  const where = `${endpoint.method} ${endpoint.path} answered ${answer.status}`;
  if (answer.status >= 500) throw new Error(`${where}: ${JSON.stringify(answer.body)}`);
  if (answer.status >= 400) {
    const codes: readonly string[] = possibleErrors(endpoint);
    if (!codes.includes(answer.body.code)) throw new Error(`${where} with the undeclared code ${answer.body.code}`);
    return;
  }
  const schema = endpoint.schemas().result;
  if (!schema || endpoint.transport !== "json") return;
  const parsed = strictly(schema).safeParse(answer.body);
  if (parsed.error) throw new Error(`${where} with an undeclared shape: ${z.prettifyError(parsed.error)}`);
}
