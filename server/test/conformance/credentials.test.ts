import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partnerKeyScopes } from "#contract/core/key-scopes";
import { databases } from "../harness.ts";
import { cases, forUsers, type Swept, startSweep } from "./sweep.ts";

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
  /** Real keys of this tenant, by kind. */
  const keys = async () => {
    const { a } = swept.world;
    const { token } = await swept.caller("partner", a);
    const body = { orgId: a.orgId, name: "sweep", scopes: ["devices:read"] };
    const made = await swept.server.request("POST", "/api-keys", { token, body });
    return { apiKey: made.body.key as string, partnerKey: a.partnerKey };
  };

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

  it.each(closed)(
    "$name accepts a real API key and a real partner key exactly where the contract says",
    async (item) => {
      const { kinds } = item.endpoint.access;
      for (const [kind, key] of Object.entries(await keys())) {
        const answer = await swept.call(item, { tenant: swept.world.a, headers: { "x-api-key": key } });
        const accepted = answer.status !== 401;
        expect({ kind, accepted }).toEqual({ kind, accepted: kinds.includes(kind as "apiKey") });
      }
    },
  );

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
