import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";
import type { Tenant } from "#fixtures/world";
import { builtInRoleId } from "#server/access/roles";
import { openAuditBundle } from "#server/audit-bundle";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";
import { totpCode } from "#server/features/sign-in/mfa/rules";
import { MINUTE } from "#server/platform/clock";
import { jsonLog } from "#server/platform/log";
import { type Answer, databases } from "../harness.ts";
import { seedPerson } from "../people.ts";
import { SecretLedger } from "./ledger.ts";
import { ask, type CallOptions, type Case, cases, type Swept, startSweep } from "./sweep.ts";

/** Begins at random, so that a search tells them apart early. */
const planted = (what: string): string => `${randomBytes(12).toString("hex")}-planted-${what}`;
const settings = {
  JWT_SECRET: planted("jwt-secret"),
  SECRET_ENCRYPTION_KEY: planted("encryption-key"),
  ENROLLMENT_KEY_PEPPER: planted("pepper"),
  METRICS_SCRAPE_TOKEN: planted("scrape-token"),
  PARTNER_API_CURSOR_SIGNING_KEY: planted("cursor-key"),
  AUDIT_ANCHOR_SIGNING_KEY: randomBytes(32).toString("base64"),
  SMTP_HOST: "127.0.0.1",
  SMTP_PORT: "1",
  SMTP_USER: "mailer",
  SMTP_PASSWORD: planted("smtp-password"),
};

describe.each(databases)("secrets planted everywhere on %s", (database) => {
  const ledger = new SecretLedger();
  const lines: string[] = [];
  let swept: Swept;
  let tenant: Tenant;
  let failures: Record<number, number>;

  beforeAll(async () => {
    swept = await startSweep(database, { log: jsonLog("debug", (line) => void lines.push(line)) }, settings);
    for (const [name, value] of Object.entries(settings)) if (!/HOST|PORT|USER/.test(name)) ledger.add(name, value);
    tenant = await swept.freshTenant();
    failures = {};
    await liveOutStories();
    await failEverywhere();
    await breakTheDatabase();
    await swept.server.settled();
  }, 600_000);
  afterAll(() => swept?.server.stop());

  const item = (name: string): Case => cases.find((one) => one.name === name) as Case;
  /** Sends an example with everything it holds and shows in the ledger; nothing is expected of the answer. */
  async function send(target: Case, options: Partial<CallOptions> = {}): Promise<Answer> {
    const at = options.tenant ?? tenant;
    const body = "body" in options ? options.body : target.example(at).body;
    const { token, headers = {} } = options;
    ledger.sent(target.endpoint, body, { ...headers, authorization: token });
    const answer = await ask(swept.server, target, { ...options, tenant: at });
    ledger.received(target.endpoint, answer);
    failures[answer.status] = (failures[answer.status] ?? 0) + 1;
    return answer;
  }
  const succeed = async (name: string, options: Partial<CallOptions> = {}): Promise<Answer["body"]> => {
    const answer = await send(item(name), options);
    expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  const mailed = async (email: string): Promise<string> => {
    const tokens = () =>
      swept.server.mails.filter((mail) => mail.to === email).map(({ text }) => /#token=(\S+)/.exec(text)?.[1]);
    await vi.waitFor(() => expect(tokens().length).toBeGreaterThan(0), { timeout: 10_000 });
    const token = tokens().at(-1) as string;
    ledger.add("mailed token", token);
    return token;
  };
  const code = (secret: string) => {
    swept.server.clock.advance(6 * MINUTE);
    return totpCode(secret, swept.server.clock.nowMs());
  };

  /** What people, machines and devices do with real secrets. */
  async function liveOutStories(): Promise<void> {
    await personWithSecondFactor();
    await invitedPerson();
    await keysOfEveryKind();
    await deviceWithTokens();
  }

  async function personWithSecondFactor(): Promise<void> {
    const { server } = swept;
    const password = `Aa1-${planted("password")}`;
    ledger.add("password", password);
    const { email, userId } = await seedPerson(
      server,
      { role: "Org Admin", orgId: tenant.orgId, mfa: false },
      password,
    );
    const signedIn = await succeed("sessions.login", { body: { email, password } });
    await succeed("sessions.refresh", { body: { refreshToken: signedIn.refreshToken } });
    const pending = await succeed("mfa.setup", {
      token: signedIn.accessToken,
      body: { currentPassword: password },
    });
    ledger.add("stored factor", pending.secret);
    const enabled = await succeed("mfa.enable", {
      token: signedIn.accessToken,
      body: { code: totpCode(pending.secret, server.clock.nowMs()) },
    });
    const half = await succeed("sessions.login", { body: { email, password } });
    const byRecovery = { tempToken: half.tempToken, code: enabled.recoveryCodes[0], method: "recovery" };
    const whole = await succeed("mfa.verify", { body: byRecovery });
    await succeed("mfa.stepUp", { token: whole.accessToken, body: { code: code(pending.secret) } });
    await succeed("mfa.recoveryCodes", { token: whole.accessToken, body: { currentPassword: password } });
    const newPassword = `Aa1-${planted("new-password")}`;
    const changed = await succeed("passwords.change", {
      token: whole.accessToken,
      body: { currentPassword: password, newPassword },
    });
    await succeed("passwords.forgot", { body: { email } });
    const third = `Aa1-${planted("reset-password")}`;
    await succeed("passwords.reset", { body: { token: await mailed(email), password: third } });
    expect((await send(item("users.me"), { token: changed.accessToken })).status).toBe(401);
    await send(item("sessions.login"), { body: { email, password } });
    const row = await server.db.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirstOrThrow();
    expect(row.mfaSecret, "the story stored no factor").not.toBeNull();
  }

  async function invitedPerson(): Promise<void> {
    const { token } = await swept.caller("partner", tenant);
    const email = `${randomBytes(6).toString("hex")}@person.example`;
    const body = { orgId: tenant.orgId, email, name: "New", roleId: builtInRoleId("Org Viewer") };
    await succeed("users.invite", { token, body, headers: { "x-idempotency-key": planted("invite-idem") } });
    const invitation = await mailed(email);
    await succeed("users.previewInvite", { body: { token: invitation } });
    await succeed("users.acceptInvite", { body: { token: invitation, password: `Aa1-${planted("chosen")}` } });
  }

  /** Every request that mints a secret, twice with one idempotency key, so that the answer is stored encrypted. */
  async function keysOfEveryKind(): Promise<void> {
    const minting = cases.filter(
      ({ endpoint, example }) =>
        endpoint.idempotent &&
        example(tenant).story === undefined &&
        secretPaths(jsonSchemaOf(endpoint.schemas().result!, "output")).length > 0,
    );
    expect(minting.length).toBeGreaterThan(6);
    for (const one of minting) {
      const own = await swept.freshTenant();
      const machine = one.endpoint.access.kinds.includes("partnerKey");
      const body = one.example(own).body as object | undefined;
      const secretToo = one.name === "partnerApi.createEnrollmentKey" ? { issueEnrollmentSecret: true } : {};
      const options = {
        tenant: own,
        ...(machine ? {} : { token: (await swept.caller("partner", own)).token }),
        headers: {
          "x-idempotency-key": planted("idempotency"),
          ...(machine ? { "x-api-key": own.partnerKey } : {}),
        },
        ...(body === undefined ? {} : { body: { ...body, ...secretToo } }),
      };
      const first = await send(one, options);
      expect(first.status, `${one.name}: ${JSON.stringify(first.body)}`).toBeLessThan(300);
      expect((await send(one, options)).headers.get("idempotency-replayed"), one.name).toBe("true");
      // The key is spent: another body with it is a conflict that must not tell of the first.
      const conflict = { ...options, body: { ...(body ?? {}), name: "another" } };
      if (body !== undefined && "name" in body) expect((await send(one, conflict)).status).toBe(409);
    }
  }

  async function deviceWithTokens(): Promise<void> {
    const headers = { "x-api-key": tenant.partnerKey };
    const body = { orgId: tenant.orgId, name: "fleet", maxUsage: 5, issueEnrollmentSecret: true };
    const minted = await succeed("partnerApi.createEnrollmentKey", { headers, body });
    const enrolment = {
      ...(item("agents.enroll").example(tenant).body as object),
      enrollmentKey: minted.key,
      enrollmentSecret: minted.enrollmentSecret,
    };
    const wrong = { ...enrolment, enrollmentSecret: planted("wrong-enrollment-secret") };
    expect((await send(item("agents.enroll"), { body: wrong })).status).toBe(403);
    const device = await succeed("agents.enroll", { body: enrolment });
    const params = { id: device.deviceId };
    await succeed("agents.heartbeat", { token: device.agentToken, params });
    await succeed("agents.rotateToken", { token: device.agentToken, params });
  }

  /** The example with a planted secret in every field that the contract marks. */
  function withPlanted(target: Case, at: Tenant): unknown {
    const example = target.example(at).body as Record<string, unknown> | undefined;
    const { body } = target.endpoint.schemas();
    const marked = body === undefined ? [] : secretPaths(jsonSchemaOf(body, "input"));
    const fields = marked.filter((path) => !path.includes("."));
    return example && { ...example, ...Object.fromEntries(fields.map((path) => [path, planted(path)])) };
  }

  /** Callers: every role, every other credential, and an unknown one with a forged credential. */
  async function callersIn(at: Tenant): Promise<Pick<CallOptions, "token" | "headers">[]> {
    const users = await Promise.all([
      swept.caller("system", at),
      swept.caller("partner", at),
      swept.caller("organization", at),
      swept.caller("organization", at, { permissions: [] }),
      swept.caller("partner", at, { mfa: false }),
    ]);
    return [
      ...users.map(({ token }) => ({ token })),
      { token: at.agentToken },
      { headers: { "x-api-key": at.partnerKey } },
      { headers: { "x-api-key": `svc_${planted("forged")}` } },
      { token: planted("forged-token") },
      { token: `agt_${planted("forged-agent")}` },
      {},
    ];
  }

  async function failEverywhere(): Promise<void> {
    for (const target of cases) {
      const [at, other] = [await swept.freshTenant(), swept.world.b];
      // Public endpoints look at no credential.
      const callers = await callersIn(at);
      const open = target.endpoint.access.kinds.includes("public");
      for (const caller of open ? [...callers.slice(0, 1), {}] : callers) {
        const body = withPlanted(target, at);
        const keyed = {
          ...caller.headers,
          "x-idempotency-key": planted("idem"),
          "x-agent-enrollment-secret": planted("aes"),
        };
        const { status } = await send(target, { tenant: at, ...caller, headers: keyed, body });
        if (status === 401) continue;
        const wrong = body === undefined ? {} : { body: { ...body, unheardOf: 1, name: 7, code: { deep: [] } } };
        await send(target, { tenant: at, ...caller, ...wrong, query: { limit: "x", orgId: "none" } });
        const foreign = target.example(other).params as Record<string, string> | undefined;
        await send(target, { tenant: at, ...caller, ...(foreign ? { params: foreign } : {}), body });
      }
    }
  }

  /** Real errors of the database, whose texts name what was being written. */
  async function breakTheDatabase(): Promise<void> {
    for (const table of ["audit_outbox", "idempotency_keys", "sessions"]) {
      const at = await swept.freshTenant();
      const callers = (await callersIn(at)).slice(0, 3);
      await owner(`alter table ${table} rename to ${table}_gone`);
      try {
        for (const target of cases) {
          const machine = target.endpoint.access.kinds.includes("partnerKey");
          const agent = target.endpoint.access.kinds.includes("agent");
          const one = machine
            ? { headers: { "x-api-key": at.partnerKey } }
            : agent
              ? { token: at.agentToken }
              : (callers[1] as CallOptions);
          const headers = { ...one.headers, "x-idempotency-key": planted("idem-500") };
          await send(target, { tenant: at, ...one, headers, body: withPlanted(target, at) });
        }
      } finally {
        await owner(`alter table ${table}_gone rename to ${table}`);
      }
    }
  }

  async function owner(statement: string): Promise<void> {
    const { file, url } = swept.server.services.store;
    if (file !== undefined) {
      const db = openSqliteFile(file, { timeout: 10_000 });
      db.exec(statement);
      return void db.close();
    }
    const client = new pg.Client({ connectionString: url as string });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  it("met every kind of answer", () => {
    for (const status of [200, 201, 400, 401, 403, 404, 409, 500])
      expect(failures[status] ?? 0, `no ${status}: ${JSON.stringify(failures)}`).toBeGreaterThan(0);
    expect(ledger.size).toBeGreaterThan(500);
    expect(lines.length).toBeGreaterThan(500);
  });

  it("shows them in no answer but the one field that the contract marks, and in no line of the log", () => {
    ledger.show("the log", lines.join(""));
    expect(unique(ledger.leaksShown())).toEqual([]);
  });

  it("shows them in no audit entry, bundle, read of the log or page of metrics (C34)", async () => {
    const { server } = swept;
    const entries = await server.db.selectFrom("auditLogs").selectAll().execute();
    expect(entries.length).toBeGreaterThan(100);
    ledger.show("audit entries", JSON.stringify(entries));
    for (const choice of [{ org: tenant.orgId }, { partner: tenant.partnerId }, { system: true }] as const) {
      const bundle = await openAuditBundle(server.services.config, choice, new Date(server.clock.nowMs()));
      const text = [];
      for await (const line of bundle!.lines) text.push(line);
      await bundle!.close();
      ledger.show(`bundle of ${JSON.stringify(choice)}`, text.join(""));
    }
    const metrics = await server.request("GET", "/metrics", { token: settings.METRICS_SCRAPE_TOKEN });
    expect(metrics.status).toBe(200);
    ledger.show("metrics", metrics.body);
    const { token } = await swept.caller("partner", tenant);
    for (const name of ["auditLogs.list", "auditLogs.logs", "auditLogs.search"])
      await send(item(name), { token, query: { limit: "100", q: "a" } });
    expect(unique(ledger.leaksShown())).toEqual([]);
  });

  it("keeps none of them in the clear: not in any table, file of the database or file beside it", async () => {
    const { store, config } = swept.server.services;
    const texts: [string, string][] = [];
    if (store.file !== undefined) {
      for (const suffix of ["", "-wal"])
        if (existsSync(store.file + suffix))
          texts.push([`database file${suffix}`, readFileSync(store.file + suffix).toString("latin1")]);
    } else texts.push(["dump of Postgres", await dump(store.url as string)]);
    for (const name of readdirSync(config.dataDir, { recursive: true }) as string[]) {
      const path = join(config.dataDir, name);
      if (/\.(ndjson|json|log|txt)$/.test(name)) texts.push([name, readFileSync(path, "utf8")]);
    }
    expect(texts[0]?.[1].length).toBeGreaterThan(10_000);
    expect(unique(ledger.leaksIn(texts))).toEqual([]);
  });
});

it("the search finds what is there: in the clear, hashed, and inside JSON", () => {
  const probe = new SecretLedger();
  const endpoint = cases.find((one) => one.name === "sessions.login")!.endpoint;
  probe.sent(
    endpoint,
    { email: "a@b.example", password: 'Secret-"quoted"-1' },
    { authorization: "Bearer abcdefghijkl" },
  );
  const answer = { status: 200, headers: new Headers(), body: { accessToken: "token-one-two", note: "token-one-two" } };
  probe.received(endpoint, answer);
  probe.show("a log", `x${JSON.stringify({ said: 'Secret-"quoted"-1' })}`);
  probe.show("a header", "zabcdefghijklz");
  probe.show("a hash", createHash("sha256").update("token-one-two").digest("hex"));
  expect(probe.leaksShown()).toEqual([
    "sessions.login result accessToken in answer 200 of sessions.login",
    "sessions.login body password in a log",
    "sessions.login header authorization in a header",
    "SHA-256 of sessions.login result accessToken in a hash",
  ]);
  expect(probe.leaksIn([["a file", "…token-one-two…"]])).toEqual(["sessions.login result accessToken in a file"]);
});

const unique = (leaks: readonly string[]): string[] => [...new Set(leaks)].slice(0, 30);

/** Every row of every table, as text. */
async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    );
    const texts: string[] = [];
    for (const { name } of rows) texts.push(JSON.stringify((await client.query(`select t::text from ${name} t`)).rows));
    return texts.join("\n");
  } finally {
    await client.end();
  }
}
