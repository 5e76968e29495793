import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrap } from "#server/bootstrap";
import { missingMigrations } from "#server/db/migration-status";
import { sha256 } from "#server/platform/vault";
import { makeSite } from "../enroll.ts";
import { type Answer, type SignedInUser, seedPartner, signIn } from "../harness.ts";
import { type Installation, install, RMM, type ServerProcess, until } from "./processes.ts";

const API_LIMIT = 60;
const ADMIN = { email: "root@first.example", password: "Correct-Horse-7" };
const MINUTES = 60_000;
const run = promisify(execFile);

let installation: Installation;
/** Three, to show that nothing here depends on two. */
let processes: [ServerProcess, ServerProcess, ServerProcess];

beforeAll(async () => {
  installation = await install("postgres", {
    ownSecrets: true,
    env: {
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
      API_RATE_LIMIT_PER_MINUTE: String(API_LIMIT),
      AGENT_ENROLL_RATE_LIMIT: "100000",
    },
  });
  const start = () => installation.start();
  processes = await Promise.all([start(), start(), start()]);
}, 5 * MINUTES);
afterAll(() => installation?.remove(), MINUTES);

/** The same request `count` times at once, over all processes in turn. */
const parallel = (count: number, ask: (server: ServerProcess, index: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) => ask(processes[index % processes.length] as ServerProcess, index)),
  );

const tally = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = `${status} ${body?.code ?? ""}`.trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

async function seedAdmin(): Promise<{ admin: SignedInUser; partnerId: string; orgId: string }> {
  const { partnerId, orgIds } = await seedPartner(installation, `p-${randomUUID()}`, ["one"]);
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const orgId = orgIds[0] as string;
  await makeSite(installation, orgId);
  return { admin, partnerId, orgId };
}

const mint = async (server: ServerProcess, token: string, body: Record<string, unknown>) => {
  const { status, body: key } = await server.request("POST", "/enrollment-keys", { token, body });
  expect(status, JSON.stringify(key)).toBe(201);
  return key as { id: string; key: string };
};

const enroll = (server: ServerProcess, enrollmentKey: string, hostname: string) =>
  server.request("POST", "/agents/enroll", {
    body: {
      enrollmentKey,
      hostname,
      osType: "windows",
      osVersion: "Windows 11",
      architecture: "x64",
      agentVersion: "1.0.0",
    },
  });

const devicesOf = async (orgId: string): Promise<number> =>
  (await installation.db.selectFrom("devices").select("id").where("orgId", "=", orgId).execute()).length;

describe("processes that start on an empty database at once", () => {
  it("migrate it once", async () => {
    expect(await missingMigrations(installation.services)).toEqual([]);
    for (const server of processes) expect((await server.request("GET", "/health/ready")).status).toBe(200);
  });

  it("make the first administrator once, and any of them signs it in", async () => {
    const users = await installation.db.selectFrom("users").select("email").execute();
    expect(users).toEqual([{ email: ADMIN.email }]);
    const answers = await parallel(3, (server) => server.request("POST", "/auth/login", { body: ADMIN }));
    expect(tally(answers)).toEqual({ "200": 3 });
  });

  it("do not both create an administrator when both see that there is none", async () => {
    const fresh = await install("postgres");
    try {
      await fresh.services.store.migrate();
      const config = { ...fresh.services.config, bootstrapAdmin: ADMIN };
      // Holds back writes until all processes have read.
      const holder = await fresh.db.startTransaction().execute();
      await sql`lock table users in share mode`.execute(holder);
      const starting = Promise.allSettled([1, 2, 3].map(() => bootstrap({ ...fresh.services, config })));
      await until("all three wait", async () => (await waitingOn(holder)) === 3);
      await holder.commit().execute();
      const failures = (await starting).filter(({ status }) => status === "rejected");
      expect(failures).toEqual([]);
      expect(await fresh.db.selectFrom("users").select("email").execute()).toEqual([{ email: ADMIN.email }]);
    } finally {
      await fresh.remove();
    }
  });

  it("agree on the secrets they make", async () => {
    const fresh = await install("sqlite", { ownSecrets: true });
    try {
      const answers = await Promise.all(Array.from({ length: 6 }, () => secretsReadAt(Date.now() + 3_000, fresh.env)));
      expect(new Set(answers).size).toBe(1);
      expect(Object.values(JSON.parse(answers[0] as string)).every((secret) => typeof secret === "string")).toBe(true);
    } finally {
      await fresh.remove();
    }
  });

  it("share their secrets: what one signs, the others accept", async () => {
    const { body } = await processes[0].request("POST", "/auth/login", { body: ADMIN });
    const answers = await parallel(6, (server) => server.request("GET", "/users/me", { token: body.accessToken }));
    expect(tally(answers)).toEqual({ "200": 6 });
  });
});

/** The secrets that a new process reads, at the same moment as others. */
async function secretsReadAt(atMs: number, env: Readonly<Record<string, string>>): Promise<string> {
  const script = `
    const { readConfig } = await import("#server/config");
    while (Date.now() < ${atMs});
    const { jwtSecret, encryptionKey, enrollmentKeyPeppers, anchorSigningKey } = readConfig(process.env);
    console.log(JSON.stringify({ jwtSecret, encryptionKey, pepper: enrollmentKeyPeppers[0], anchorSigningKey }));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(dirname(RMM), ".."),
    env,
  });
  return stdout;
}

/** Connections to the same database that wait for a lock. */
async function waitingOn(db: Installation["db"]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct pid)::int as count from pg_locks
    where not granted and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows[0]?.count ?? 0;
}

describe("parallel requests to two processes", () => {
  it("a key for 5 enrolls exactly 5 of 40 devices; after a rotation the count restarts (C02)", async () => {
    const { admin, orgId } = await seedAdmin();
    const key = await mint(processes[0], admin.token, { name: "five", orgId, maxUsage: 5 });
    const answers = await parallel(40, (server, index) => enroll(server, key.key, `pc-${index}`));
    expect(tally(answers)).toEqual({ "201": 5, "401 ENROLLMENT_KEY_EXHAUSTED": 35 });
    expect(await devicesOf(orgId)).toBe(5);
    const shown = await processes[1].request("GET", `/enrollment-keys/${key.id}`, { token: admin.token });
    expect(shown.body.usageCount).toBe(5);

    const rotated = await processes[1].request("POST", `/enrollment-keys/${key.id}/rotate`, { token: admin.token });
    expect({ status: rotated.status, usageCount: rotated.body.usageCount }).toEqual({ status: 200, usageCount: 0 });
    const old = await parallel(3, (server) => enroll(server, key.key, "late"));
    expect(tally(old)).toEqual({ "401 ENROLLMENT_KEY_NOT_FOUND": 3 });
    expect((await enroll(processes[0], rotated.body.key, "early")).status).toBe(201);
  });

  it("a partner's cap holds under 20 parallel creates", async () => {
    const { admin, partnerId } = await seedAdmin();
    await installation.db.updateTable("partners").set({ maxOrganizations: 6 }).where("id", "=", partnerId).execute();
    const answers = await parallel(20, (server, index) =>
      server.request("POST", "/orgs/organizations", {
        token: admin.token,
        body: { name: `Org ${index}`, slug: `org-${index}` },
      }),
    );
    expect(tally(answers)).toEqual({ "201": 5, "409 ORG_LIMIT_REACHED": 15 });
  });

  it("an organization's cap on devices holds under 20 parallel enrolments", async () => {
    const { admin, orgId } = await seedAdmin();
    await installation.db.updateTable("organizations").set({ maxDevices: 3 }).where("id", "=", orgId).execute();
    const key = await mint(processes[0], admin.token, { name: "many", orgId, maxUsage: 100 });
    const answers = await parallel(20, (server, index) => enroll(server, key.key, `pc-${index}`));
    expect(tally(answers)).toEqual({ "201": 3, "403 DEVICE_LIMIT_REACHED": 17 });
    expect(await devicesOf(orgId)).toBe(3);
    const shown = await processes[1].request("GET", `/enrollment-keys/${key.id}`, { token: admin.token });
    expect(shown.body.usageCount, "a refused device gives its use back").toBe(3);
  });

  it("a device rotates its tokens six times an hour, and one of its pairs works", async () => {
    const { admin, orgId } = await seedAdmin();
    const { key } = await mint(processes[0], admin.token, { name: "one", orgId, maxUsage: 1 });
    const { body: device } = await enroll(processes[0], key, "rotating");
    const stored = installation.db.selectFrom("devices").select("agentTokenHash").where("id", "=", device.deviceId);
    const made: Answer[] = [];
    const working = async () => {
      const { agentTokenHash } = await stored.executeTakeFirstOrThrow();
      return [device, ...made.map(({ body }) => body)].filter(
        ({ agentToken }) => sha256(agentToken) === agentTokenHash,
      );
    };
    for (let round = 0; round < 8; round += 1) {
      const [{ agentToken: token }] = await working();
      const rotate = (server: ServerProcess) =>
        server.request("POST", `/agents/${device.agentId}/rotate-token`, { token });
      const answers = await parallel(3, rotate);
      for (const { status } of answers) expect([200, 409, 429]).toContain(status);
      made.push(...answers.filter(({ status }) => status === 200));
    }
    expect(made).toHaveLength(6);
    const works = await working();
    expect(works).toHaveLength(1);
    const beat = { token: works[0].agentToken, body: {} };
    expect((await processes[1].request("POST", `/agents/${device.agentId}/heartbeat`, beat)).status).toBe(200);
  });

  it("one slug is taken once", async () => {
    const { admin } = await seedAdmin();
    const answers = await parallel(12, (server) =>
      server.request("POST", "/orgs/organizations", { token: admin.token, body: { name: "Same", slug: "same" } }),
    );
    expect(tally(answers)).toEqual({ "201": 1, "409 SLUG_TAKEN": 11 });
  });

  it("ten requests with one idempotency key mint one enrollment key (C08)", async () => {
    const { admin, orgId } = await seedAdmin();
    const send = (server: ServerProcess) =>
      server.request("POST", "/enrollment-keys", {
        token: admin.token,
        body: { name: "once", orgId },
        headers: { "x-idempotency-key": "one-and-the-same" },
      });
    const answers = await parallel(10, send);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    for (const { status, body } of answers) if (status !== 201) expect(body.code).toBe("IDEMPOTENCY_IN_FLIGHT");
    const again = await parallel(3, send);
    expect(tally(again)).toEqual({ "201": 3 });
    expect(new Set([...made, ...again].map(({ body }) => `${body.id} ${body.key}`)).size).toBe(1);
    const keys = await installation.db.selectFrom("enrollmentKeys").select("id").where("orgId", "=", orgId).execute();
    expect(keys).toHaveLength(1);
  });

  it("a refresh token is exchanged for one pair, and the session lives on (C24)", async () => {
    const { body: first } = await processes[0].request("POST", "/auth/login", { body: ADMIN });
    const exchange = (server: ServerProcess, refreshToken: string) =>
      server.request("POST", "/auth/refresh", { body: { refreshToken } });
    const answers = await parallel(10, (server) => exchange(server, first.refreshToken));
    expect(tally(answers)).toEqual({ "200": 1, "401 REFRESH_RACED": 9 });
    const pair = answers.find(({ status }) => status === 200)?.body;
    const reads = await parallel(3, (server) => server.request("GET", "/users/me", { token: pair.accessToken }));
    expect(tally(reads)).toEqual({ "200": 3 });
    expect((await exchange(processes[1], pair.refreshToken)).status).toBe(200);
  });
});

describe("what one process ends, the other refuses at once (C05)", () => {
  it("a session", async () => {
    const { admin } = await seedAdmin();
    const read = (server: ServerProcess) => server.request("GET", "/users/me", { token: admin.token });
    for (let warm = 0; warm < 3; warm += 1) expect(tally(await parallel(3, read))).toEqual({ "200": 3 });
    expect((await processes[0].request("POST", "/auth/logout", { token: admin.token })).status).toBe(200);
    expect(tally(await parallel(6, read))).toEqual({ "401 UNAUTHENTICATED": 6 });
  });

  it("an enrollment key", async () => {
    const { admin, orgId } = await seedAdmin();
    const key = await mint(processes[0], admin.token, { name: "gone", orgId, maxUsage: 100 });
    expect((await enroll(processes[1], key.key, "pc-1")).status).toBe(201);
    const removed = await processes[0].request("DELETE", `/enrollment-keys/${key.id}`, { token: admin.token });
    expect(removed.status).toBe(200);
    const late = await parallel(3, (server) => enroll(server, key.key, "pc-2"));
    expect(tally(late)).toEqual({ "401 ENROLLMENT_KEY_NOT_FOUND": 3 });
  });

  it("a membership", async () => {
    const { admin, orgId } = await seedAdmin();
    const member = await signIn(installation, { role: "Org Admin", orgId });
    const read = (server: ServerProcess) => server.request("GET", "/users/me", { token: member.token });
    expect(tally(await parallel(3, read))).toEqual({ "200": 3 });
    const churned = await processes[0].request("PATCH", `/orgs/organizations/${orgId}`, {
      token: admin.token,
      body: { status: "churned" },
    });
    expect(churned.status, JSON.stringify(churned.body)).toBe(200);
    expect(Object.keys(tally(await parallel(6, read)))).not.toContain("200");
  });
});

it("bursts over all processes never get more than a session's allowance in any minute (C06)", async () => {
  const { admin } = await seedAdmin();
  const admitted: { sentMs: number; answeredMs: number }[] = [];
  const refused: Answer[] = [];
  const burst = (count: number) =>
    parallel(count, async (server) => {
      const sentMs = Date.now();
      const answer = await server.request("GET", "/users/me", { token: admin.token });
      if (answer.status === 200) admitted.push({ sentMs, answeredMs: Date.now() });
      else refused.push(answer);
      return answer;
    });
  await burst(API_LIMIT - 10);
  await burst(API_LIMIT);
  await burst(API_LIMIT);
  // Requests that were sent and answered within one minute were admitted within it.
  const inOneMinute = admitted.map(
    ({ sentMs }) => admitted.filter((call) => call.sentMs >= sentMs && call.answeredMs <= sentMs + MINUTES).length,
  );
  expect(Math.max(...inOneMinute)).toBeLessThanOrEqual(API_LIMIT);
  expect(admitted.length, "the allowance is granted whole").toBeGreaterThanOrEqual(API_LIMIT);
  expect(Object.keys(tally(refused))).toEqual(["429 RATE_LIMITED"]);
  for (const { headers } of refused) {
    const wait = Number(headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(62);
  }
});
