import type { Kysely } from "kysely";
import { startDns } from "#fixtures/simulators/dns";
import { seedTenants, type Tenant, type World } from "#fixtures/world";
import { sentQuery } from "#sdk/prepare";
import type { Environment } from "#server/config";
import type { Database } from "#server/db/tables";
import { startAgent } from "../answering-agent.ts";
import {
  type Answer,
  type DatabaseName,
  type RequestOptions,
  type SignedInUser,
  startTestServer,
  type TestOptions,
  type TestServer,
  type TestUser,
} from "../harness.ts";
import { type Case, isPublic, type ScopeName, scopeOfExample } from "./cases.ts";
import { type Changes, watchChanges } from "./changes.ts";
import { refuseUndeclared } from "./declared.ts";
import { noting } from "./noting.ts";
import { mailedToken, Stages } from "./stage.ts";
import { BATCH, freshNames, type KnownOfSweep, templateWith } from "./template.ts";

export interface CallOptions {
  tenant: Tenant;
  token?: string | undefined;
  headers?: Record<string, string>;
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  /** Replaces the example's query instead of extending it. */
  onlyQuery?: boolean;
  body?: unknown;
  /** The agent of the tenant does not answer what is asked live. */
  silentAgent?: boolean;
}

/** A request that succeeds, and the person behind it or whom it is about. */
export interface Ready extends CallOptions {
  person?: SignedInUser;
}

export type Credential = Pick<CallOptions, "token" | "headers">;

/** A server with two tenants shared by all tests of a file; a test that changes a tenant uses a fresh one. */
export interface Swept {
  readonly server: TestServer;
  /** Without a tenant scope; its writes are not attributed to the next call. */
  readonly db: Kysely<Database>;
  readonly world: World;
  /** A tenant that no test has used, for calls that succeed and change it. */
  freshTenant(): Promise<Tenant>;
  /** Sends the example with these options. Throws if the answer violates the contract, or a read or refusal changed data. */
  call(item: Case, options: CallOptions): Promise<Answer>;
  /** Sends parallel calls. Checks that nothing changed only if all of them are reads or refused. */
  callTogether(item: Case, calls: readonly CallOptions[]): Promise<Answer[]>;
  /** Throws if the call changes data, even if it succeeds. */
  unchanged(call: () => Promise<Answer>): Promise<Answer>;
  /** Sends any request without checks. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A caller of this scope with every permission and MFA unless the options differ; reused for equal arguments. */
  caller(scope: ScopeName, tenant: Tenant, options?: Partial<TestUser>): Promise<SignedInUser>;
  /** The credential that the endpoint needs, with all rights; none if it is public. */
  credential(item: Case, tenant: Tenant): Promise<Credential>;
  /** Prepares the example so that it succeeds. Changes the tenant. */
  prepared(item: Case, tenant: Tenant): Promise<Ready>;
  /** Token of the last link mailed to this address. */
  mailedToken(to: string): Promise<string>;
  stop(): Promise<void>;
}

export interface SweepOptions extends TestOptions {
  env?: Environment;
  /** An identity provider and a name system that the server trusts, for examples that prepare one. */
  outside?: boolean;
  /** Tenants that there are besides `a` and `b` before the first asks for one. */
  fresh?: number;
}

export async function startSweep(database: DatabaseName, options: SweepOptions = {}): Promise<Swept> {
  const outside = options.outside ? await outsideWorld() : undefined;
  const server = await startTestServer(
    database,
    // All devices of the tests share one address.
    {
      AGENT_ENROLL_RATE_LIMIT: "100000",
      AGENT_POLL_MAX_SECONDS: "0",
      LIVE_WAIT_SECONDS: "5",
      PAM_ACTUATOR_ENABLED: "true",
      // Browsers ask approver devices for it alone.
      PUBLIC_URL: "http://localhost",
      ...outside?.env,
      ...options.env,
    },
    {
      ...options,
      template: templateWith(options.fresh ?? BATCH),
      ...(outside && { outbound: { ca: outside.authority.ca, isPublic: () => true } }),
    },
  );
  const changes = await watchChanges(server);
  const stages = new Stages(server, outside?.authority);
  return new Sweep({ server, changes, stages, stopOutside: outside?.stop });
}

async function outsideWorld() {
  const { testAuthority } = await import("#fixtures/simulators/test-authority");
  const [authority, dns] = await Promise.all([testAuthority(), startDns()]);
  dns.setAddresses("localhost", ["127.0.0.1"]);
  return { authority, env: { DNS_RESOLVER: dns.server }, stop: () => dns.stop() };
}

interface Parts {
  server: TestServer;
  changes: Changes;
  stages: Stages;
  stopOutside: (() => Promise<void>) | undefined;
}

class Sweep implements Swept {
  readonly server: TestServer;
  readonly world: World;
  readonly db: Kysely<Database>;
  readonly #parts: Parts;
  readonly #callers = new Map<string, Promise<SignedInUser>>();
  #fresh: Tenant[];
  #seeded: number;
  /** Something may have been written since the mark. */
  #written = true;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.server = parts.server;
    const { world, fresh } = this.server.known as KnownOfSweep;
    this.world = world;
    this.#fresh = fresh;
    this.#seeded = fresh.length;
    this.db = noting(parts.server.db, () => {
      this.#written = true;
    });
  }

  async freshTenant(): Promise<Tenant> {
    const kept = this.#fresh.pop();
    if (kept) return kept;
    this.#fresh = await seedTenants(this.db, this.server.services, freshNames(this.#seeded));
    this.#seeded += BATCH;
    return this.#fresh.pop() as Tenant;
  }

  async call(item: Case, options: CallOptions): Promise<Answer> {
    const [answer] = await this.callTogether(item, [options]);
    return answer as Answer;
  }

  async callTogether(item: Case, calls: readonly CallOptions[]): Promise<Answer[]> {
    if (this.#written) {
      await this.#parts.changes.mark();
      this.#written = false;
    }
    const answers = await Promise.all(calls.map((options) => ask(this.server, item, options)));
    for (const answer of answers) refuseUndeclared(item.endpoint, answer);
    const reads = item.endpoint.method === "GET" && item.endpoint.transport === "json" && !asksAgent(item);
    if (reads || answers.every(({ status }) => status >= 400)) await this.#refuseChange(item, answers);
    else this.#written = true;
    return answers;
  }

  async unchanged(call: () => Promise<Answer>): Promise<Answer> {
    await this.#parts.changes.mark();
    this.#written = false;
    const answer = await call();
    const changed = await this.#parts.changes.since();
    if (changed.length > 0) throw new Error(`unexpected changes: ${changed.join(", ")}`);
    return answer;
  }

  async #refuseChange({ name }: Case, answers: readonly Answer[]): Promise<void> {
    const changed = await this.#parts.changes.since();
    if (changed.length === 0) return;
    this.#written = true;
    const told = answers.map(({ status, body }) => `${status} ${JSON.stringify(body)?.slice(0, 200)}`);
    throw new Error(`${name}: ${changed.join(", ")}, and yet the answer was ${told.join(", ")}`);
  }

  async request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    this.#written = true;
    return asEnvelope(await this.server.request(method, path, options));
  }

  caller(scope: ScopeName, tenant: Tenant, options: Partial<TestUser> = {}): Promise<SignedInUser> {
    const key = JSON.stringify([scope, tenant.partnerId, tenant.orgId, options]);
    const known = this.#callers.get(key);
    if (known) return known;
    this.#written = true;
    const made = this.server.signIn({ ...placeOf(scope, tenant), ...options });
    this.#callers.set(key, made);
    return made;
  }

  async credential(item: Case, tenant: Tenant): Promise<Credential> {
    const { kinds } = item.endpoint.access;
    if (isPublic(item)) return {};
    if (kinds.includes("agent")) return { token: tenant.agentToken };
    if (kinds.includes("user")) return { token: (await this.caller(scopeOfExample(item, tenant), tenant)).token };
    return { headers: { "x-api-key": kinds.includes("apiKey") ? tenant.apiKey : tenant.partnerKey } };
  }

  async prepared(item: Case, tenant: Tenant): Promise<Ready> {
    const credential = await this.credential(item, tenant);
    const forUsers = item.endpoint.access.kinds.includes("user");
    const { prepare } = item.example(tenant);
    if (!prepare && !forUsers) return { tenant, ...credential };
    const person = await this.caller(forUsers ? scopeOfExample(item, tenant) : "organization", tenant);
    if (!prepare) return { tenant, person, ...credential };
    this.#written = true;
    const changed = (await prepare(this.#parts.stages.open(person))) as Partial<CallOptions>;
    return { tenant, person, ...credential, ...changed };
  }

  mailedToken(to: string): Promise<string> {
    this.#written = true;
    return mailedToken(this.server, to);
  }

  async stop(): Promise<void> {
    await this.#parts.stages.close();
    await this.#parts.changes.close();
    await this.server.stop();
    await this.#parts.stopOutside?.();
  }
}

function placeOf(scope: ScopeName, tenant: Tenant): TestUser {
  if (scope === "system") return { role: "System Admin" };
  if (scope === "partner") return { role: "Partner Admin", partnerId: tenant.partnerId };
  return { role: "Org Admin", orgId: tenant.orgId };
}

/** What it asks goes to the agent as a command. */
export const asksAgent = ({ endpoint }: Case): boolean => endpoint.errors.includes("AGENT_TIMEOUT");

/** Sends an example with these options, without checks. */
export const ask = (server: TestServer, item: Case, options: CallOptions): Promise<Answer> =>
  options.silentAgent
    ? send(server, item, options)
    : withAgent(server, item, { tenant: options.tenant, work: () => send(server, item, options) });

/** The tenant's agent answers what the endpoint asks live. */
export async function withAgent(
  server: TestServer,
  item: Case,
  { tenant, work }: { tenant: Tenant; work: () => Promise<Answer> },
): Promise<Answer> {
  if (!asksAgent(item)) return work();
  const agent = startAgent(server, tenant);
  try {
    return await work();
  } finally {
    await agent.stop();
  }
}

/** An error of JSON-RPC as other endpoints tell it: what it is about stands in its data. */
function asEnvelope(answer: Answer): Answer {
  const { error } = (answer.body ?? {}) as { error?: { message: string; data?: { code: string; issues?: unknown } } };
  if (answer.status < 400 || typeof error !== "object" || !error.data) return answer;
  const { code, issues, ...details } = error.data;
  return { ...answer, body: { error: error.message, code, details: issues ?? details } };
}

async function send(server: TestServer, item: Case, options: CallOptions): Promise<Answer> {
  const example = item.example(options.tenant);
  const params: Record<string, string> = { ...(example.params as object), ...options.params };
  const query = new URLSearchParams(
    sentQuery({ ...(options.onlyQuery ? {} : (example.query as object)), ...options.query }),
  );
  const path = pathOf(item, params);
  const body = "body" in options ? options.body : example.body;
  const answer = await server.request(item.endpoint.method, query.size > 0 ? `${path}?${query}` : path, {
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(body === undefined ? {} : { body }),
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  });
  return asEnvelope(answer);
}

/** The path with these parameters. */
export const pathOf = ({ endpoint }: Case, params: Readonly<Record<string, string>>): string =>
  endpoint.path.replace(/:([A-Za-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? `missing-${name}`));
