import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { partnerKeyScopes } from "#contract/core/key-scopes";
import type { Tenant } from "#fixtures/world";
import type { DatabaseName } from "../../harness.ts";
import { type Case, caseOf, cases, forAgents, forPartnerKeys, forUsers, isPublic, scopeOfExample } from "../cases.ts";
import { type Credential, type Swept, startSweep } from "../sweep.ts";

type Kind = "user" | "apiKey" | "partnerKey" | "agent" | "watchdog";
const kinds: readonly Kind[] = ["user", "apiKey", "partnerKey", "agent", "watchdog"];

const accepts = ({ endpoint }: Case, kind: Kind): boolean =>
  endpoint.access.kinds.includes(kind === "watchdog" ? "agent" : kind);

const missing = ({ endpoint }: Case): string => {
  if (endpoint.access.kinds.includes("agent")) return "INVALID_AGENT_CREDENTIALS";
  return endpoint.access.kinds.includes("user") ? "UNAUTHENTICATED" : "API_KEY_MISSING";
};

const takesKeys = (item: Case): boolean => accepts(item, "apiKey") || accepts(item, "partnerKey");

/** The answer to a valid credential of a kind that the endpoint does not take. */
const refusalOf = (item: Case, kind: Kind): string => {
  // A key of the wrong kind, or a key at an endpoint where the key decides alone.
  const wrongKey = takesKeys(item) && (kind === "apiKey" || kind === "partnerKey");
  return wrongKey && !accepts(item, "agent") ? "API_KEY_INVALID" : missing(item);
};

/** Every kind of credential, valid, wrong, missing and doubled, at every endpoint. */
export const sweepCredentials = (database: DatabaseName) =>
  describe(`credentials on ${database}`, () => {
    let swept: Swept;
    let shared: Record<Kind, Credential>;
    let tenant: Tenant;
    beforeAll(async () => {
      swept = await startSweep(database);
      tenant = await swept.freshTenant();
      shared = await credentialsOf(tenant);
    });
    afterAll(() => swept?.stop());

    const closed = cases.filter((item) => !isPublic(item));
    /** Failed keys are limited per address, and here all calls come from one. */
    const forgetLimits = () => swept.server.services.store.volatile.deleteFrom("rateLimits").execute();
    beforeEach(forgetLimits);

    /** A valid credential of every kind except users' tokens, all of one tenant, none with the right to change it. */
    async function credentialsOf(of: Tenant): Promise<Record<Kind, Credential>> {
      const watchdogToken = `agt_${randomBytes(32).toString("hex")}`;
      const watchdogTokenHash = createHash("sha256").update(watchdogToken).digest("hex");
      await swept.db.updateTable("devices").set({ watchdogTokenHash }).where("id", "=", of.deviceId).execute();
      const admin = await swept.caller("partner", of);
      const body = { orgId: of.orgId, name: "sweep", scopes: ["devices:read"] };
      const made = await swept.request("POST", "/api-keys", { token: admin.token, body });
      const ofPrincipal = swept.db.updateTable("partnerServicePrincipals").where("id", "=", of.partnerPrincipalId);
      await ofPrincipal.set({ scopes: [] }).execute();
      const key = (value: string) => ({ headers: { "x-api-key": value } });
      return {
        user: {},
        apiKey: key(made.body.key),
        partnerKey: key(of.partnerKey),
        agent: { token: of.agentToken },
        watchdog: { token: watchdogToken },
      };
    }

    interface Callers {
      of: Tenant;
      credentials: Record<Kind, Credential>;
    }

    /** For calls that are refused for every caller. */
    const stopped = async (): Promise<Callers> => {
      const { token } = await swept.caller("partner", tenant, { permissions: [] });
      return { of: tenant, credentials: { ...shared, user: { token } } };
    };

    /** An accepted credential is refused for missing rights; if the endpoint needs none, the call affects only its caller. */
    async function letIn(item: Case): Promise<Callers> {
      const { method, access } = item.endpoint;
      const harmless = method === "GET" || access.permissions.length > 0 || access.keyScopes.length > 0;
      const of = harmless ? tenant : await swept.freshTenant();
      const credentials = harmless ? shared : await credentialsOf(of);
      if (access.scopes.length === 0) return { of, credentials };
      const rights = access.permissions.length > 0 ? { permissions: [] } : {};
      const { token } = await swept.caller(scopeOfExample(item, of), of, rights);
      return { of, credentials: { ...credentials, user: { token } } };
    }

    const asked = async (item: Case, { of }: Callers, credential: Credential): Promise<string | null> => {
      const { status, body } = await swept.call(item, { tenant: of, ...credential });
      // Whoever is asked to prove once more who they are was let in.
      return status === 401 && body.code !== "reauth_required" ? (body.code as string) : null;
    };

    it.each(closed)("$name answers 401 without a credential and with a wrong one", async (item) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const forged = `${part({ alg: "none" })}.${part({ sub: "x" })}.`;
      for (const token of [undefined, "nonsense", forged, `agt_${"0".repeat(64)}`, `svc_${"a".repeat(32)}`]) {
        const answer = await swept.call(item, { tenant: swept.world.a, token });
        const wanted = { token, status: 401, code: missing(item) };
        expect({ token, status: answer.status, code: answer.body.code }).toEqual(wanted);
      }
    });

    it.each(forUsers)("$name refuses an API key and an agent's token", async (item) => {
      const { a } = swept.world;
      const withKey = await swept.call(item, { tenant: a, headers: { "x-api-key": `svc_${"a".repeat(32)}` } });
      expect([withKey.status, withKey.body.code]).toEqual([401, takesKeys(item) ? "API_KEY_INVALID" : missing(item)]);
      const withAgent = await swept.call(item, { tenant: a, token: a.agentToken });
      expect([withAgent.status, withAgent.body.code]).toEqual([401, "UNAUTHENTICATED"]);
    });

    it.each(closed)("$name takes each kind of credential exactly where the contract says", async (item) => {
      for (const kind of kinds) {
        const callers = accepts(item, kind) ? await letIn(item) : await stopped();
        const code = await asked(item, callers, callers.credentials[kind]);
        expect({ kind, code }).toEqual({ kind, code: accepts(item, kind) ? null : refusalOf(item, kind) });
      }
    });

    const open = cases.filter(isPublic);
    it.each(open)("$name is for everybody: it answers the same whatever credential comes along", async (item) => {
      const { of, credentials } = await stopped();
      const all = [{}, ...kinds.map((kind) => credentials[kind]), { token: "nonsense" }];
      const answers = [];
      // In parallel, because a refused sign-in is slow; five are allowed.
      for (let from = 0; from < all.length; from += 4) {
        await forgetLimits();
        const some = all.slice(from, from + 4);
        answers.push(
          ...(await swept.callTogether(
            item,
            some.map((one) => ({ tenant: of, ...one })),
          )),
        );
      }
      const told = answers.map(({ status, body }) => ({ status, code: body?.code }));
      for (const one of told) expect(one).toEqual(told[0]);
    });

    it.each(closed)("$name with two credentials: a key decides where keys are taken, else the token", async (item) => {
      for (const bearer of ["user", "agent"] as const) {
        for (const key of ["apiKey", "partnerKey"] as const) {
          const decides = takesKeys(item) ? key : bearer;
          const callers = accepts(item, decides) ? await letIn(item) : await stopped();
          const code = await asked(item, callers, { ...callers.credentials[bearer], ...callers.credentials[key] });
          const wanted = accepts(item, decides) ? null : refusalOf(item, decides);
          expect({ bearer, key, code }).toEqual({ bearer, key, code: wanted });
        }
      }
    });

    it.each(closed)("$name: a good credential does not save a bad one that decides", async (item) => {
      for (const kind of ["apiKey", "partnerKey"] as const) {
        const callers = accepts(item, kind) ? await letIn(item) : await stopped();
        const refusal = takesKeys(item) ? "API_KEY_INVALID" : refusalOf(item, "user");
        const code = await asked(item, callers, { token: "nonsense", ...callers.credentials[kind] });
        expect(code).toBe(accepts(item, kind) ? null : refusal);
      }
      const person = accepts(item, "user") && !takesKeys(item);
      const callers = person ? await letIn(item) : await stopped();
      const badKey = { "x-api-key": `svc_${"a".repeat(32)}` };
      const code = await asked(item, callers, { ...callers.credentials.user, headers: badKey });
      expect(code).toBe(person ? null : takesKeys(item) ? "API_KEY_INVALID" : refusalOf(item, "user"));
    });

    it.each(closed)("$name takes no key as a bearer, no token as a key, and neither twice", async (item) => {
      const callers = await stopped();
      for (const kind of ["apiKey", "partnerKey"] as const) {
        const key = shared[kind].headers?.["x-api-key"] as string;
        expect(await asked(item, callers, { token: key }), kind).toBe(missing(item));
        const twice = await asked(item, callers, { headers: { "x-api-key": `${key}, ${key}` } });
        expect(twice, kind).toBe(takesKeys(item) ? "API_KEY_INVALID" : missing(item));
      }
      for (const kind of ["user", "agent"] as const) {
        const token = callers.credentials[kind].token as string;
        const asKey = await asked(item, callers, { headers: { "x-api-key": token } });
        const wrongKey = accepts(item, "apiKey") ? "API_KEY_INVALID_FORMAT" : "API_KEY_INVALID";
        expect(asKey, kind).toBe(takesKeys(item) ? wrongKey : missing(item));
        const headers = { authorization: `Bearer ${token}, Bearer ${token}` };
        expect(await asked(item, callers, { headers }), kind).toBe(missing(item));
      }
    });

    it.each(forPartnerKeys)("$name refuses a partner key without its scope, and says which it needs", async (item) => {
      const of = await swept.freshTenant();
      const { keyScopes } = item.endpoint.access;
      const others = partnerKeyScopes.filter((scope) => !keyScopes.includes(scope));
      const ofPrincipal = swept.db.updateTable("partnerServicePrincipals").where("id", "=", of.partnerPrincipalId);
      await ofPrincipal.set({ scopes: others }).execute();
      const answer = await swept.call(item, { tenant: of, headers: { "x-api-key": of.partnerKey } });
      expect([answer.status, answer.body.code]).toEqual([403, "API_KEY_SCOPE_REQUIRED"]);
      expect(answer.body.details).toEqual({ required: keyScopes, available: others });
      expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBe(9_999);
    });

    it.each(forPartnerKeys)("$name refuses a partner key that is no longer good, with one answer", async (item) => {
      const past = new Date(swept.server.clock.nowMs() - 1).toISOString();
      const principal = (change: object) => (of: Tenant) =>
        swept.db.updateTable("partnerServicePrincipals").set(change).where("id", "=", of.partnerPrincipalId).execute();
      const key = (change: object) => (of: Tenant) =>
        swept.db.updateTable("partnerServicePrincipalKeys").set(change).where("id", "=", of.partnerKeyId).execute();
      const changes: ((of: Tenant) => Promise<unknown>)[] = [
        principal({ status: "disabled" }),
        principal({ expiresAt: past }),
        principal({ sourceCidrs: ["203.0.113.0/24", "2001:db8::/32"] }),
        key({ status: "revoked" }),
        key({ expiresAt: past }),
        ({ partnerId }) =>
          swept.db.updateTable("partners").set({ status: "suspended" }).where("id", "=", partnerId).execute(),
      ];
      for (const change of changes) {
        const of = await swept.freshTenant();
        await change(of);
        const answer = await swept.call(item, { tenant: of, headers: { "x-api-key": of.partnerKey } });
        expect([answer.status, answer.body]).toEqual([401, { error: "Invalid API key", code: "API_KEY_INVALID" }]);
      }
    });

    it.each(forAgents)("$name refuses a user's token", async (item) => {
      const { token } = await swept.caller("partner", swept.world.a);
      const answer = await swept.call(item, { tenant: swept.world.a, token });
      expect([answer.status, answer.body.code]).toEqual([401, "INVALID_AGENT_CREDENTIALS"]);
    });

    it("refuses a session from the moment it is revoked, its user disabled, or its time is over", async () => {
      const me = caseOf("users.me");
      const changes = [
        (sessionId: string) =>
          swept.db
            .updateTable("sessions")
            .set({ revokedAt: swept.server.clock.now() })
            .where("id", "=", sessionId)
            .execute(),
        (_: string, userId: string) =>
          swept.db.updateTable("users").set({ status: "disabled" }).where("id", "=", userId).execute(),
        (_: string, userId: string) => swept.db.deleteFrom("partnerUsers").where("userId", "=", userId).execute(),
      ];
      for (const change of changes) {
        const of = await swept.freshTenant();
        const { token, sessionId, userId } = await swept.caller("partner", of);
        expect((await swept.call(me, { tenant: of, token })).status).toBe(200);
        await change(sessionId, userId);
        expect((await swept.call(me, { tenant: of, token })).status).toBe(401);
      }
    });
  });
