import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { plainMembership, plainUser } from "#fixtures/nouns/people/users";
import { plainSession } from "#fixtures/nouns/sign-in/sessions";
import { plainOrganization } from "#fixtures/nouns/tenancy/organizations";
import { plainPartner } from "#fixtures/nouns/tenancy/partners";
import { dropDatabase } from "#fixtures/postgres";
import { builtInRoleId } from "#server/access/roles";
import type { Seams } from "#server/app";
import { type Environment, readConfig } from "#server/config";
import type { Database } from "#server/db/tables";

import { Deliverer } from "#server/features/integrations/webhooks/sending/deliverer";
import { jobHandlers } from "#server/generated/background";
import { runNextJob } from "#server/jobs/queue";

import { type RunningServer, startServer } from "#server/main";
import { type HeldClock, heldClock } from "#server/platform/clock";
import { jsonLog, type Log, silentLog } from "#server/platform/log";
import type { Mail, Mailer } from "#server/platform/mail";
import type { Services } from "#server/services";
import { copiedPostgres, copiedSqlite, START, type Template } from "./migrated-database.ts";

/** As long as a job may take that the server itself runs. */
const JOBS_MS = 10_000;

export const databases = ["sqlite", "postgres"] as const;
export type DatabaseName = (typeof databases)[number];

export interface TestServer extends RunningServer {
  clock: HeldClock;
  /** A handle without a tenant scope, to prepare and inspect data without the API. */
  db: Kysely<Database>;
  mails: Mail[];
  /** What the template told of the database. */
  known: object;
  /** Sends JSON and reads JSON; never throws for a status. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Resolves once the audit outbox is empty. */
  settled(): Promise<void>;
  /** Runs every job that is due now; the server's own runner polls once a second. */
  workJobs(): Promise<void>;
  /** Sends every delivery to a webhook that is due now. */
  deliver(): Promise<void>;
  /** A signed-in user with an access token, created without the API. */
  signIn(user: TestUser): Promise<SignedInUser>;
}

export interface RequestOptions {
  token?: string;
  body?: unknown;
  /** Sent unchanged in place of a JSON body. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever the server says
  body: any;
  headers: Headers;
}

export interface TestUser {
  email?: string;
  name?: string;
  role: string;
  /** Signs in with a new role that holds exactly these permissions. */
  permissions?: readonly string[];
  partnerId?: string;
  orgId?: string;
  orgAccess?: "all" | "selected" | "none";
  orgIds?: string[];
  siteIds?: string[] | null;
  /** Default true: the session has completed MFA. */
  mfa?: boolean;
}

export interface SignedInUser {
  userId: string;
  sessionId: string;
  email: string;
  token: string;
}

export { START };

export interface TestOptions {
  log?: Log;
  /** Sends mail as configured (SMTP or file) instead of keeping it in memory. */
  realMail?: boolean;
  /** Trusted certificates and public addresses for requests to addresses that tenants choose. */
  outbound?: Seams["outbound"];
  /** What the new database holds besides every migration. */
  template?: Template;
}

async function newDatabase(
  database: DatabaseName,
  dataDir: string,
  { env, template }: { env: Environment; template: Template | undefined },
): Promise<{ url?: string; known: object }> {
  if (database === "postgres") return copiedPostgres(template);
  const own = "DATABASE_URL" in env || "RMM_DATA_DIR" in env;
  return { known: own ? {} : await copiedSqlite(dataDir, template) };
}

/** A server in this process on a new database, with a stopped clock and mails kept in memory. */
export async function startTestServer(
  database: DatabaseName,
  env: Environment = {},
  options: TestOptions = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "rmm-test-"));
  const { url, known } = await newDatabase(database, dataDir, { env, template: options.template });
  const clock = heldClock(START);
  const mails: Mail[] = [];
  const kept: Mailer = { delivers: true, send: async (mail) => void mails.push(mail) };
  const config = readConfig({
    PORT: "0",
    RMM_DATA_DIR: dataDir,
    API_RATE_LIMIT_PER_MINUTE: "0",
    // No name server listens there, so tests never use the machine's own.
    DNS_RESOLVER: "127.0.0.1:1",
    ...(url ? { DATABASE_URL: url } : {}),
    ...env,
  });
  const server = await startServer({
    config: { ...config, port: 0 },
    clock,
    log: options.log ?? testLog(),
    ...(options.realMail ? {} : { mailer: kept }),
    ...(options.outbound ? { outbound: options.outbound } : {}),
    background: false,
  });
  const db = server.services.store.connection("system");
  // Waiting for the disk is most of a write. A killed process loses nothing; a crash of the machine does not matter.
  if (server.services.store.dialect === "sqlite") await sql`pragma synchronous = off`.execute(db);
  return {
    ...server,
    clock,
    db,
    mails,
    known,
    request: (method, path, options) => send(server.url, method, path, options),
    settled: () => settled(db),
    async workJobs() {
      // The server has a runner of its own: a job that it is claiming still looks queued, one that it runs looks running.
      for (const end = performance.now() + JOBS_MS; performance.now() < end; await pause(5)) {
        while (await runNextJob(server.services, jobHandlers, "test"));
        const unfinished = db.selectFrom("jobs").select("id").where("status", "in", ["queued", "running"]);
        if (!(await unfinished.where("runAt", "<=", server.services.clock.now()).executeTakeFirst())) return;
      }
    },
    deliver: () => new Deliverer(server.services).drain(),
    signIn: (user) => signIn({ services: server.services, db }, user),
    async stop() {
      await server.stop();
      if (url) await dropDatabase(url);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function settled(db: Kysely<Database>): Promise<void> {
  for (const give = Date.now() + 30_000; ; await pause(2)) {
    const waiting = await db.selectFrom("auditOutbox").select("id").execute();
    if (waiting.length === 0) return;
    if (Date.now() > give) throw new Error(`${waiting.length} audit entries wait`);
  }
}

/** `RMM_TEST_LOG=error` shows what the servers under test log. */
const testLog = (): Log =>
  process.env["RMM_TEST_LOG"]
    ? jsonLog(process.env["RMM_TEST_LOG"] as "error", (line) => process.stderr.write(line))
    : silentLog;

/** Connections of tests to their servers. Closes idle ones well before the server does so after 10 seconds. */
const agent = new Agent({ keepAlive: true, timeout: 4_000 });

/** Sends JSON and reads JSON, whatever the status. `fetch` would cost more than the server's answer. */
export function send(
  url: string,
  method: string,
  path: string,
  { token, body, raw, headers = {} }: RequestOptions = {},
): Promise<Answer> {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const all = {
    "user-agent": "node",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(sent === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/api/v1${path}`, { method, agent, headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve(answerOf(response, text)));
    });
    outgoing.on("error", reject);
    outgoing.end(sent);
  });
}

function answerOf(response: IncomingMessage, text: string): Answer {
  const json = response.headers["content-type"]?.startsWith("application/json");
  const headers = new Headers();
  for (let at = 0; at < response.rawHeaders.length; at += 2)
    headers.append(response.rawHeaders[at] as string, response.rawHeaders[at + 1] as string);
  return { status: response.statusCode as number, body: json ? JSON.parse(text) : text, headers };
}

/** What creating users and tenants without the API needs. */
export interface Behind {
  readonly services: Pick<Services, "random" | "clock" | "accessTokens">;
  readonly db: Kysely<Database>;
}

/** A signed-in user with an access token. */
export async function signIn(server: Behind, user: TestUser): Promise<SignedInUser> {
  const { db } = server;
  const { random, clock, accessTokens } = server.services;
  const now = clock.now();
  const userId = random.uuid();
  const sessionId = random.uuid();
  const email = user.email ?? `${userId}@test.example`;
  const scope = user.orgId ? "organization" : user.partnerId ? "partner" : "system";
  const roleId = user.permissions ? await makeRole(server, scope, user) : builtInRoleId(user.role);
  await db
    .insertInto("users")
    .values({ ...plainUser(now), id: userId, email, name: user.name ?? user.role, isPlatformAdmin: scope === "system" })
    .execute();
  if (user.orgId) {
    await db
      .insertInto("organizationUsers")
      .values({
        id: random.uuid(),
        orgId: user.orgId,
        userId,
        roleId,
        siteIds: user.siteIds ?? null,
        ...plainMembership(now),
      })
      .execute();
  } else if (user.partnerId) {
    const membershipId = random.uuid();
    const partnerId = user.partnerId;
    await db
      .insertInto("partnerUsers")
      .values({
        id: membershipId,
        partnerId,
        userId,
        roleId,
        orgAccess: user.orgAccess ?? "all",
        ...plainMembership(now),
      })
      .execute();
    for (const orgId of user.orgIds ?? [])
      await db.insertInto("partnerUserOrgs").values({ partnerId, membershipId, orgId }).execute();
  }
  const mfa = user.mfa ?? true;
  await db
    .insertInto("sessions")
    .values({
      id: sessionId,
      userId,
      ...plainSession(now),
      mfaVerifiedAt: mfa ? now : null,
      memberOrgId: user.orgId ?? null,
      memberPartnerId: user.orgId ? null : (user.partnerId ?? null),
    })
    .execute();
  const token = accessTokens.sign({
    sub: userId,
    sid: sessionId,
    scope,
    partnerId: scope === "partner" ? (user.partnerId ?? null) : null,
    orgId: user.orgId ?? null,
    roleId,
    mfa,
    jti: random.uuid(),
  });
  return { userId, sessionId, email, token };
}

async function makeRole(
  { services, db }: Behind,
  scope: "organization" | "partner" | "system",
  user: TestUser,
): Promise<string> {
  const id = services.random.uuid();
  const now = services.clock.now();
  await db
    .insertInto("roles")
    .values({
      id,
      scope,
      partnerId: scope === "partner" ? (user.partnerId ?? null) : null,
      orgId: user.orgId ?? null,
      name: `custom ${id}`,
      description: null,
      isSystem: false,
      forceMfa: false,
      parentRoleId: null,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  const held = (user.permissions ?? []).map((permission) => ({ roleId: id, permission }));
  if (held.length > 0) await db.insertInto("rolePermissions").values(held).execute();
  return id;
}

/** A partner with organizations, created without the API. */
export async function seedPartner(
  server: Behind,
  slug: string,
  orgSlugs: string[] = [],
): Promise<{ partnerId: string; orgIds: string[] }> {
  const { random, clock } = server.services;
  const stamps = { createdAt: clock.now(), updatedAt: clock.now() };
  const partnerId = random.uuid();
  await server.db
    .insertInto("partners")
    .values({ ...plainPartner(slug), id: partnerId, ...stamps })
    .execute();
  const orgIds: string[] = [];
  for (const orgSlug of orgSlugs) {
    const id = random.uuid();
    orgIds.push(id);
    await server.db
      .insertInto("organizations")
      .values({ ...plainOrganization(orgSlug), id, partnerId, ...stamps })
      .execute();
  }
  return { partnerId, orgIds };
}
