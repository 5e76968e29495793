import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tenant } from "#fixtures/world";
import { openAuditBundle } from "#server/audit-bundle";
import { connectSqlite } from "#server/db/dialect/sqlite-connection";
import { jsonLog } from "#server/platform/log";
import type { DatabaseName } from "../../harness.ts";
import { proving } from "../../proving.ts";
import { allCases, type Case, caseOf, cases, isPublic, shareOf } from "../cases.ts";
import { markedIn, SecretLedger } from "../ledger.ts";
import { planted, SecretRun } from "../secret-run.ts";
import { liveOutStories } from "../secret-stories.ts";
import { type CallOptions, type Credential, type Swept, startSweep } from "../sweep.ts";

const settings = {
  JWT_SECRET: planted("jwt-secret"),
  SECRET_ENCRYPTION_KEY: planted("encryption-key"),
  ENROLLMENT_KEY_PEPPER: planted("pepper"),
  METRICS_SCRAPE_TOKEN: planted("scrape-token"),
  PARTNER_API_CURSOR_SIGNING_KEY: planted("cursor-key"),
  AUDIT_ANCHOR_SIGNING_KEY: randomBytes(32).toString("base64"),
  // Agents that cannot say what they did are waited for, for each database error.
  LIVE_WAIT_SECONDS: "2",
  SMTP_HOST: "127.0.0.1",
  SMTP_PORT: "1",
  SMTP_USER: "mailer",
  SMTP_PASSWORD: planted("smtp-password"),
};

const beforeTheBody = ["FORBIDDEN", "PERMISSION_DENIED", "MFA_REQUIRED", "PARTNER_INACTIVE", "API_KEY_SCOPE_REQUIRED"];

/** A run of a few nouns does not cover everything. */
const whole = cases.length === allCases.length;

/** Sends secrets in every field and header that takes one, then searches for them where they must not be. */
export const sweepSecrets = (database: DatabaseName) =>
  describe(`secrets planted everywhere on ${database}`, () => {
    const ledger = new SecretLedger();
    const lines: string[] = [];
    let swept: Swept;
    let run: SecretRun;

    beforeAll(async () => {
      const log = jsonLog("debug", (line) => void lines.push(line));
      swept = await startSweep(database, { log, env: settings, outside: true });
      for (const [name, value] of Object.entries(settings))
        if (!/HOST|PORT|USER|SECONDS/.test(name)) ledger.add(name, value);
      run = new SecretRun(swept, ledger, await swept.freshTenant());
      await liveOutStories(run);
      await succeedEverywhere();
      await failEverywhere();
      await breakTheDatabase();
      await swept.server.settled();
    }, 600_000);
    afterAll(() => swept?.stop());

    /** Two endpoints take more secrets than their examples contain. */
    const withMore = (target: Case, at: Tenant, prepared: object) => {
      if (target.name === "serviceStatus.metrics") return { ...prepared, token: settings.METRICS_SCRAPE_TOKEN };
      if (target.name !== "partnerApi.createEnrollmentKey") return prepared;
      return { ...prepared, body: { ...(target.example(at).body as object), issueEnrollmentSecret: true } };
    };

    /** Sends every example once, and again with an idempotency key, so that its answer is stored encrypted. */
    async function succeedEverywhere(): Promise<void> {
      for (const target of cases) {
        const at = await swept.freshTenant();
        const { person: _, ...prepared } = await swept.prepared(target, at);
        const key = target.endpoint.idempotent ? { "x-idempotency-key": planted("idempotency") } : {};
        const options = { ...withMore(target, at, prepared), headers: { ...prepared.headers, ...key } } as CallOptions;
        const first = await run.send(target, options);
        expect(first.status, `${target.name}: ${JSON.stringify(first.body)}`).toBe(target.endpoint.status);
        if (!target.endpoint.idempotent) continue;
        expect((await run.send(target, options)).headers.get("idempotency-replayed"), target.name).toBe("true");
        // Another body with the used key is a conflict, which must not reveal the first body.
        const body = (options.body ?? target.example(at).body) as object | undefined;
        const conflict = { ...options, body: { ...(body ?? {}), name: "another" } };
        if (body !== undefined && "name" in body) expect((await run.send(target, conflict)).status).toBe(409);
      }
    }

    /** The example with a planted secret in every field that the contract marks. */
    function withPlanted(target: Case, at: Tenant): unknown {
      const example = target.example(at).body as Record<string, unknown> | undefined;
      const fields = markedIn(target.endpoint.schemas().body, "input").filter((path) => !path.includes("."));
      return example && { ...example, ...Object.fromEntries(fields.map((path) => [path, planted(path)])) };
    }

    /** The callers: every role, every other credential, and forged credentials. */
    async function callersIn(at: Tenant): Promise<Credential[]> {
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
      for (const [index, target] of shareOf(database).entries()) {
        const [at, other] = [await swept.freshTenant(), swept.world.b];
        // Public endpoints ignore credentials.
        const all = isPublic(target) ? [{}, {}] : await callersIn(at);
        // Each endpoint meets every other caller, the next one the others.
        const callers = proving || isPublic(target) ? all : all.filter((_, place) => (place + index) % 2 === 0);
        for (const caller of callers as Credential[]) {
          const body = withPlanted(target, at);
          const keys = { "x-idempotency-key": planted("idem"), "x-agent-enrollment-secret": planted("aes") };
          const { status, body: told } = await run.send(target, {
            tenant: at,
            ...caller,
            headers: { ...caller.headers, ...keys },
            body,
          });
          // A caller who is refused before the body is read is refused for any body.
          if (status === 401 || beforeTheBody.includes(told?.code)) continue;
          const wrong = body === undefined ? {} : { body: { ...body, unheardOf: 1, name: 7, code: { deep: [] } } };
          await run.send(target, { tenant: at, ...caller, ...wrong, query: { limit: "x", orgId: "none" } });
          const foreign = target.example(other).params as Record<string, string> | undefined;
          if (foreign) await run.send(target, { tenant: at, ...caller, params: foreign, body });
        }
      }
    }

    /** Real errors of the database, whose messages contain the values being written. */
    async function breakTheDatabase(): Promise<void> {
      for (const table of ["audit_outbox", "idempotency_keys", "sessions"]) {
        const at = await swept.freshTenant();
        const { token } = await swept.caller("partner", at);
        await owner(`alter table ${table} rename to ${table}_gone`);
        try {
          // Beside each other: an agent that cannot say what it did keeps its caller waiting.
          await Promise.all(cases.map((target) => fail(target, at, token)));
        } finally {
          await owner(`alter table ${table}_gone rename to ${table}`);
        }
      }
    }

    async function fail(target: Case, at: Tenant, token: string): Promise<void> {
      const { kinds } = target.endpoint.access;
      const machine = kinds.includes("partnerKey");
      const key: Record<string, string> = machine ? { "x-api-key": at.partnerKey } : {};
      const bearer = machine ? {} : { token: kinds.includes("agent") ? at.agentToken : token };
      const headers = { ...key, "x-idempotency-key": planted("idem-500") };
      await run.send(target, { tenant: at, ...bearer, headers, body: withPlanted(target, at) });
    }

    async function owner(statement: string): Promise<void> {
      const { file, url } = swept.server.services.store;
      if (file !== undefined) {
        const db = connectSqlite(file);
        // The server is in this process: a transaction that it has open ends only while nobody waits for it here.
        db.pragma("busy_timeout = 0");
        for (const end = performance.now() + 20_000; ; await pause(10)) {
          const error = thrownBy(() => db.exec(statement));
          if (error === undefined) break;
          if (performance.now() > end) throw error;
        }
        return void db.close();
      }
      const client = new pg.Client({ connectionString: url as string });
      await client.connect();
      await client.query(statement);
      await client.end();
    }

    it.runIf(whole)("met every kind of answer", () => {
      for (const status of [200, 201, 302, 400, 401, 403, 404, 409, 500])
        expect(run.answers[status] ?? 0, `no ${status}: ${JSON.stringify(run.answers)}`).toBeGreaterThan(0);
      expect(ledger.size).toBeGreaterThan(500);
      expect(lines.length).toBeGreaterThan(500);
    });

    it("shows them in no answer but the one field that the contract marks, and in no line of the log", () => {
      expect(lines.length).toBeGreaterThan(20);
      ledger.show("the log", lines.join(""));
      expect(unique(ledger.leaksShown())).toEqual([]);
    });

    it("shows them in no audit entry, bundle, read of the log or page of metrics (C34)", async () => {
      const { server } = swept;
      const entries = await server.db.selectFrom("auditLogs").selectAll().execute();
      expect(entries.length).toBeGreaterThan(20);
      ledger.show("audit entries", JSON.stringify(entries));
      for (const choice of [{ org: run.tenant.orgId }, { partner: run.tenant.partnerId }, { system: true }] as const) {
        const bundle = await openAuditBundle(server.services.config, choice, new Date(server.clock.nowMs()));
        const text = [];
        if ("candidates" in bundle) throw new Error("no chain");
        for await (const line of bundle.lines) text.push(line);
        await bundle.close();
        ledger.show(`bundle of ${JSON.stringify(choice)}`, text.join(""));
      }
      const metrics = await server.request("GET", "/metrics", { token: settings.METRICS_SCRAPE_TOKEN });
      expect(metrics.status).toBe(200);
      ledger.show("metrics", metrics.body);
      const { token } = await swept.caller("partner", run.tenant);
      for (const name of ["auditLogs.list", "auditLogs.logs", "auditLogs.search"])
        await run.send(caseOf(name), { token, query: { limit: "100", q: "a" } });
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
      expect(texts.reduce((sum, [, text]) => sum + text.length, 0)).toBeGreaterThan(10_000);
      expect(unique(ledger.leaksIn(texts))).toEqual([]);
    });
  });

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
};

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
