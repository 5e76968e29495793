import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { partnerKeyScopes } from "#contract/core/key-scopes";
import type { Tenant } from "#fixtures/world";
import { databases } from "../harness.ts";
import { type CallOptions, type Case, cases, forUsers, type Swept, scopeOfExample, startSweep } from "./sweep.ts";

describe.each(databases)("credentials on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.server.stop());

  const closed = cases.filter(({ endpoint }) => !endpoint.access.kinds.includes("public"));
  const forAgents = cases.filter(({ endpoint }) => endpoint.access.kinds.includes("agent"));

  const forPartnerKeys = cases.filter(({ endpoint }) => endpoint.access.kinds.includes("partnerKey"));
  const missing = (kinds: readonly string[]) =>
    kinds.includes("agent")
      ? "INVALID_AGENT_CREDENTIALS"
      : kinds.includes("user")
        ? "UNAUTHENTICATED"
        : "API_KEY_MISSING";
  /** Addresses that guess keys are slowed down, and here all calls come from one. */
  beforeEach(() => swept.server.clock.advance(61_000));

  it.each(closed)("$name answers 401 without a credential and with a wrong one", async (item) => {
    const wanted = missing(item.endpoint.access.kinds);
    const forged = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"sub":"x"}').toString("base64url")}.`;
    for (const token of [undefined, "nonsense", forged, `agt_${"0".repeat(64)}`, `svc_${"a".repeat(32)}`]) {
      const answer = await swept.call(item, { tenant: swept.world.a, token });
      expect({ token, status: answer.status, code: answer.body.code }).toEqual({ token, status: 401, code: wanted });
    }
  });

  it.each(forUsers)("$name refuses an API key and an agent's token", async (item) => {
    const withKey = await swept.call(item, {
      tenant: swept.world.a,
      headers: { "x-api-key": `svc_${"a".repeat(32)}` },
    });
    expect([withKey.status, withKey.body.code]).toEqual([401, "UNAUTHENTICATED"]);
    const withAgent = await swept.call(item, { tenant: swept.world.a, token: swept.world.a.agentToken });
    expect([withAgent.status, withAgent.body.code]).toEqual([401, "UNAUTHENTICATED"]);
  });

  const seeded = async () => {
    const tenant = await swept.freshTenant();
    const watchdogToken = `agt_${randomBytes(32).toString("hex")}`;
    await swept.server.db
      .updateTable("devices")
      .set({ watchdogTokenHash: createHash("sha256").update(watchdogToken).digest("hex") })
      .where("id", "=", tenant.deviceId)
      .execute();
    const admin = await swept.caller("partner", tenant);
    const body = { orgId: tenant.orgId, name: "sweep", scopes: ["devices:read"] };
    const made = await swept.server.request("POST", "/api-keys", { token: admin.token, body });
    const key = (value: string) => ({ headers: { "x-api-key": value } });
    return {
      tenant,
      apiKey: key(made.body.key),
      partnerKey: key(tenant.partnerKey),
      agent: { token: tenant.agentToken },
      watchdog: { token: watchdogToken },
    };
  };
  let untouched: ReturnType<typeof seeded> | undefined;
  /** One good credential of every kind, all of one tenant; of one of its own where the call may change it. */
  const good = async (item: Case, { refusedOnly = false } = {}) => {
    untouched ??= seeded();
    const found = await (item.endpoint.method === "GET" || refusedOnly ? untouched : seeded());
    return { ...found, user: { token: (await swept.caller(scopeOfExample(item, found.tenant), found.tenant)).token } };
  };
  type Kind = Exclude<keyof Awaited<ReturnType<typeof good>>, "tenant">;
  const kinds: readonly Kind[] = ["user", "apiKey", "partnerKey", "agent", "watchdog"];
  const acceptedBy = ({ endpoint }: Case, kind: Kind) =>
    endpoint.access.kinds.includes(kind === "watchdog" ? "agent" : kind);
  /** The answer to a good credential of a kind that the endpoint does not take. */
  const refusalOf = ({ endpoint }: Case, kind: Kind) => {
    const { kinds: taken } = endpoint.access;
    if (taken.includes("agent")) return "INVALID_AGENT_CREDENTIALS";
    // A key where a key is asked for, of the wrong kind; or where both are taken and it decides alone.
    const takesKeys = taken.includes("apiKey") || taken.includes("partnerKey");
    if (takesKeys && (kind === "apiKey" || kind === "partnerKey")) return "API_KEY_INVALID";
    return taken.includes("user") ? "UNAUTHENTICATED" : "API_KEY_MISSING";
  };
  const asked = async (item: Case, tenant: Tenant, credential: Pick<CallOptions, "token" | "headers">) => {
    const { status, body } = await swept.call(item, { tenant, ...credential });
    const code = status === 401 ? (body.code as string) : null;
    // Public endpoints have 401s of their own; one that is no verdict on the caller.
    return item.endpoint.access.kinds.includes("public") ? { code: null } : { code };
  };

  it.each(cases)("$name takes each kind of credential exactly where the contract says", async (item) => {
    const credentials = await good(item);
    const { tenant } = credentials;
    for (const kind of kinds) {
      const open = item.endpoint.access.kinds.includes("public");
      const answer = await asked(item, tenant, credentials[kind]);
      expect({ kind, ...answer }).toEqual({
        kind,
        code: open || acceptedBy(item, kind) ? null : refusalOf(item, kind),
      });
    }
  });

  it.each(closed)("$name with two credentials: a key decides where keys are taken, else the token", async (item) => {
    let credentials = await good(item);
    const bearers: readonly Kind[] = ["user", "agent"];
    const withKeys: readonly Kind[] = ["apiKey", "partnerKey"];
    const takesKeys = withKeys.some((kind) => acceptedBy(item, kind));
    for (const bearer of bearers) {
      for (const key of withKeys) {
        const pair = { ...credentials[bearer], ...credentials[key] };
        const decides = takesKeys ? key : bearer;
        const answer = await asked(item, credentials.tenant, pair);
        const wanted = acceptedBy(item, decides) ? null : refusalOf(item, decides);
        // What was accepted may have ended the tenant.
        if (wanted === null && item.endpoint.method !== "GET") credentials = await good(item);
        expect({ bearer, key, ...answer }).toEqual({ bearer, key, code: wanted });
      }
    }
  });

  it.each(closed)("$name: a good credential does not save a bad one that decides", async (item) => {
    const credentials = await good(item);
    const { tenant } = credentials;
    const badKey = { "x-api-key": `svc_${"a".repeat(32)}` };
    const withBadKey = await asked(item, tenant, { ...credentials.user, headers: badKey });
    const takesKeys = acceptedBy(item, "apiKey") || acceptedBy(item, "partnerKey");
    const wanted = takesKeys ? "API_KEY_INVALID" : acceptedBy(item, "user") ? null : refusalOf(item, "user");
    expect(withBadKey.code).toBe(wanted);
    for (const kind of ["apiKey", "partnerKey"] as const) {
      const pair = { token: "nonsense", ...credentials[kind] };
      expect((await asked(item, tenant, pair)).code).toBe(
        acceptedBy(item, kind) ? null : takesKeys ? "API_KEY_INVALID" : refusalOf(item, "user"),
      );
    }
  });

  it.each(closed)("$name takes no key as a bearer, no token as a key, and neither twice", async (item) => {
    const credentials = await good(item, { refusedOnly: true });
    const { tenant } = credentials;
    const agents = acceptedBy(item, "agent");
    const takesKeys = acceptedBy(item, "apiKey") || acceptedBy(item, "partnerKey");
    for (const kind of ["apiKey", "partnerKey"] as const) {
      const { headers } = credentials[kind] as { headers: { "x-api-key": string } };
      const key = headers["x-api-key"];
      expect((await asked(item, tenant, { token: key })).code, kind).toBe(missing(item.endpoint.access.kinds));
      const twice = (await asked(item, tenant, { headers: { "x-api-key": `${key}, ${key}` } })).code;
      expect(twice, kind).toBe(takesKeys ? "API_KEY_INVALID" : missing(item.endpoint.access.kinds));
    }
    for (const kind of ["user", "agent"] as const) {
      const { token } = credentials[kind] as { token: string };
      const asKey = (await asked(item, tenant, { headers: { "x-api-key": token } })).code;
      expect(asKey, kind).toBe(
        acceptedBy(item, "apiKey")
          ? "API_KEY_INVALID_FORMAT"
          : takesKeys
            ? "API_KEY_INVALID"
            : missing(item.endpoint.access.kinds),
      );
      const twice = (await asked(item, tenant, { headers: { authorization: `Bearer ${token}, Bearer ${token}` } }))
        .code;
      expect(twice, kind).toBe(agents ? "INVALID_AGENT_CREDENTIALS" : missing(item.endpoint.access.kinds));
    }
  });

  it.each(forPartnerKeys)("$name refuses a partner key without its scope, and says which it needs", async (item) => {
    const tenant = await swept.freshTenant();
    const { keyScopes } = item.endpoint.access;
    const others = partnerKeyScopes.filter((scope) => !keyScopes.includes(scope));
    await swept.server.db
      .updateTable("partnerServicePrincipals")
      .set({ scopes: others })
      .where("id", "=", tenant.partnerPrincipalId)
      .execute();
    const answer = await swept.call(item, { tenant, headers: { "x-api-key": tenant.partnerKey } });
    expect([answer.status, answer.body.code]).toEqual([403, "API_KEY_SCOPE_REQUIRED"]);
    expect(answer.body.details).toEqual({ required: keyScopes, available: others });
    expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBe(9_999);
  });

  it.each(forPartnerKeys)("$name refuses a partner key that is no longer good, with one answer", async (item) => {
    const { server } = swept;
    const past = new Date(server.clock.nowMs() - 1).toISOString();
    type Change = (tenant: Awaited<ReturnType<Swept["freshTenant"]>>) => Promise<unknown>;
    const principal =
      (change: object): Change =>
      ({ partnerPrincipalId }) =>
        server.db.updateTable("partnerServicePrincipals").set(change).where("id", "=", partnerPrincipalId).execute();
    const key =
      (change: object): Change =>
      ({ partnerKeyId }) =>
        server.db.updateTable("partnerServicePrincipalKeys").set(change).where("id", "=", partnerKeyId).execute();
    const changes: Change[] = [
      principal({ status: "disabled" }),
      principal({ expiresAt: past }),
      principal({ sourceCidrs: ["203.0.113.0/24", "2001:db8::/32"] }),
      key({ status: "revoked" }),
      key({ expiresAt: past }),
      ({ partnerId }) =>
        server.db.updateTable("partners").set({ status: "suspended" }).where("id", "=", partnerId).execute(),
    ];
    for (const change of changes) {
      const tenant = await swept.freshTenant();
      await change(tenant);
      const answer = await swept.call(item, { tenant, headers: { "x-api-key": tenant.partnerKey } });
      expect([answer.status, answer.body]).toEqual([401, { error: "Invalid API key", code: "API_KEY_INVALID" }]);
    }
  });

  it.each(forAgents)("$name refuses a user's token", async (item) => {
    const { token } = await swept.caller("partner", swept.world.a);
    const answer = await swept.call(item, { tenant: swept.world.a, token });
    expect([answer.status, answer.body.code]).toEqual([401, "INVALID_AGENT_CREDENTIALS"]);
  });

  it("refuses a session from the moment it is revoked, its user disabled, or its time is over", async () => {
    const me = cases.find((item) => item.name === "users.me")!;
    const changes = [
      (sessionId: string) =>
        swept.server.db
          .updateTable("sessions")
          .set({ revokedAt: swept.server.clock.now() })
          .where("id", "=", sessionId)
          .execute(),
      (_: string, userId: string) =>
        swept.server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", userId).execute(),
      (_: string, userId: string) => swept.server.db.deleteFrom("partnerUsers").where("userId", "=", userId).execute(),
    ];
    for (const change of changes) {
      const { token, sessionId, userId } = await swept.caller("partner", swept.world.a);
      expect((await swept.call(me, { tenant: swept.world.a, token })).status).toBe(200);
      await change(sessionId, userId);
      expect((await swept.call(me, { tenant: swept.world.a, token })).status).toBe(401);
    }
  });
});
