import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe.each(databases)("service principals on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, token = admin.token, headers = {}) =>
    server.request(method, `/service-principals${path}`, { token, headers, ...(body ? { body } : {}) });
  const create = (body: object, token?: string) =>
    send("POST", "", { orgId: acme.orgId, name: `principal ${++made}`, ...body }, token);
  const principal = async (body: object = {}) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const keysOf = (id: string) =>
    server.db.selectFrom("apiKeys").selectAll().where("principalId", "=", id).orderBy("id").execute();
  const apiKey = async (scopes: string[], orgId = acme.orgId) =>
    (await server.request("POST", "/api-keys", { token: admin.token, body: { orgId, name: "human", scopes } })).body;

  it("is made without a key, and the first rotation makes one", async () => {
    const fresh = await principal({ scopes: ["devices:read", "sites:read", "devices:read"] });
    expect(fresh).toMatchObject({
      scopes: ["devices:read", "sites:read"],
      status: "active",
      currentKey: null,
      createdBy: admin.userId,
      lastUpdatedBy: null,
    });
    const { status, body } = await send("POST", `/${fresh.id}/rotate`);
    expect(status).toBe(200);
    expect(body.key).toMatch(/^svc_[A-Za-z0-9_-]{32}$/);
    const [key] = await keysOf(fresh.id);
    expect(key).toMatchObject({
      id: body.apiKeyId,
      keyPrefix: body.keyPrefix,
      keyHash: sha256(body.key),
      name: `${fresh.name} (service key)`,
      scopes: ["devices:read", "sites:read"],
      principalType: "service",
      status: "active",
    });
    const shown = (await send("GET", `/${fresh.id}`)).body;
    expect(shown.currentKey).toEqual({
      id: body.apiKeyId,
      keyPrefix: body.keyPrefix,
      createdAt: server.clock.now(),
      lastUsedAt: null,
    });
    expect(JSON.stringify(shown)).not.toContain(body.key);
    expect(shown.lastUpdatedBy).toBe(admin.userId);
  });

  it("never has two active keys, however many rotations and adoptions race", async () => {
    const { id } = await principal({ scopes: ["devices:read"] });
    const human = await apiKey(["devices:read"]);
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => send("POST", `/${id}/rotate`)),
      send("POST", `/${id}/migrate-key`, { keyId: human.id }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    const keys = await keysOf(id);
    expect(keys).toHaveLength(7);
    expect(keys.filter((key) => key.status === "active")).toHaveLength(1);
    const [first] = keys.filter((key) => key.status === "revoked");
    await expect(
      server.db
        .updateTable("apiKeys")
        .set({ status: "active" })
        .where("id", "=", first?.id ?? "")
        .execute(),
    ).rejects.toThrow(/unique/i);
  });

  it("mints one key for one idempotency key, and answers the same secret again", async () => {
    const { id } = await principal();
    const headers = { "x-idempotency-key": "rotate-once-1" };
    const first = await send("POST", `/${id}/rotate`, undefined, admin.token, headers);
    const again = await send("POST", `/${id}/rotate`, undefined, admin.token, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(await keysOf(id)).toHaveLength(1);
  });

  it("ends with its keys when it is disabled, once and for all", async () => {
    const { id } = await principal({ scopes: ["devices:read"] });
    await send("POST", `/${id}/rotate`);
    const disabled = await send("POST", `/${id}/disable`);
    expect(disabled.body).toMatchObject({ status: "disabled", currentKey: null });
    expect((await keysOf(id)).map((key) => key.status)).toEqual(["revoked"]);
    const entries = (await auditEntries(server, "service_principal.disable")).length;
    const again = await send("POST", `/${id}/disable`);
    expect([again.status, again.body]).toEqual([200, disabled.body]);
    expect((await auditEntries(server, "service_principal.disable")).length).toBe(entries);
    for (const [path, body] of [
      ["rotate", undefined],
      ["migrate-key", { keyId: acme.apiKeyId }],
    ] as const) {
      const refused = await send("POST", `/${id}/${path}`, body);
      expect([refused.status, refused.body.code]).toEqual([409, "INVALID_STATE"]);
    }
    expect((await keysOf(id)).map((key) => key.status)).toEqual(["revoked"]);
  });

  it("leaves no active key when disabling races with rotating", async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id } = await principal();
      const [disabled, ...rotated] = await Promise.all([
        send("POST", `/${id}/disable`),
        send("POST", `/${id}/rotate`),
        send("POST", `/${id}/rotate`),
      ]);
      expect(disabled?.status).toBe(200);
      for (const answer of rotated) expect([200, 409]).toContain(answer.status);
      expect((await keysOf(id)).filter((key) => key.status === "active")).toEqual([]);
    }
  });

  it("adopts a key of its organization with the scopes both have, and its material goes on", async () => {
    const { id } = await principal({ scopes: ["devices:read", "audit:read"] });
    const before = (await send("POST", `/${id}/rotate`)).body;
    const human = await apiKey(["devices:read", "devices:write"]);
    const hash = (await server.db.selectFrom("apiKeys").select("keyHash").where("id", "=", human.id).executeTakeFirst())
      ?.keyHash;
    const { status, body } = await send("POST", `/${id}/migrate-key`, { keyId: human.id });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      id: human.id,
      principalType: "service",
      principalId: id,
      scopes: ["devices:read"],
      status: "active",
    });
    const keys = await keysOf(id);
    expect(keys.find((key) => key.id === before.apiKeyId)?.status).toBe("revoked");
    expect(keys.find((key) => key.id === human.id)?.keyHash).toBe(hash);
    const rotated = await server.request("POST", `/api-keys/${human.id}/rotate`, { token: admin.token });
    expect([rotated.status, rotated.body.code]).toEqual([400, "SERVICE_PRINCIPAL_KEY"]);
    const again = await send("POST", `/${id}/migrate-key`, { keyId: human.id });
    expect([again.status, again.body.status]).toEqual([200, "active"]);
  });

  it("adopts no key that is over, of another organization or of another tenant", async () => {
    const { id } = await principal({ scopes: ["devices:read"] });
    const elsewhere = await apiKey(["devices:read"], acme.secondOrgId);
    const over = await apiKey(["devices:read"]);
    await server.request("DELETE", `/api-keys/${over.id}`, { token: admin.token });
    const adopt = async (keyId: string) => {
      const { status, body } = await send("POST", `/${id}/migrate-key`, { keyId });
      return [status, body.code];
    };
    expect(await adopt(elsewhere.id)).toEqual([400, "KEY_IN_OTHER_ORG"]);
    expect(await adopt(over.id)).toEqual([409, "INVALID_STATE"]);
    expect(await adopt(other.apiKeyId)).toEqual([404, "NOT_FOUND"]);
    expect(await adopt(server.services.random.uuid())).toEqual([404, "NOT_FOUND"]);
  });

  it("gets no scope that the caller does not hold: on create, rotate and migrate-key", async () => {
    const limited = await server.signIn({
      role: "custom",
      partnerId: acme.partnerId,
      permissions: ["organizations:read", "organizations:write", "devices:read"],
    });
    const { id } = await principal({ scopes: ["devices:read", "devices:write"] });
    const human = await apiKey(["devices:read", "devices:write"]);
    const attempts = [
      await create({ scopes: ["devices:write"] }, limited.token),
      await send("POST", `/${id}/rotate`, undefined, limited.token),
      await send("POST", `/${id}/migrate-key`, { keyId: human.id }, limited.token),
    ];
    for (const { status, body } of attempts) {
      expect([status, body.code, body.details]).toEqual([403, "SCOPE_DELEGATION_DENIED", { scope: "devices:write" }]);
    }
    expect(await keysOf(id)).toEqual([]);
    expect((await create({ scopes: ["devices:read"] }, limited.token)).status).toBe(201);
    const reading = await apiKey(["devices:read"]);
    expect((await send("POST", `/${id}/migrate-key`, { keyId: reading.id }, limited.token)).status).toBe(200);
  });

  it("keeps the scopes of its key within its own, also when they are changed", async () => {
    const { id } = await principal({ scopes: ["devices:read", "devices:write"] });
    const { apiKeyId } = (await send("POST", `/${id}/rotate`)).body;
    const change = (body: object) => server.request("PATCH", `/api-keys/${apiKeyId}`, { token: admin.token, body });
    const scopesOf = async () => (await keysOf(id)).find((key) => key.id === apiKeyId)?.scopes;
    const refused = await change({ scopes: ["devices:read", "alerts:read"], name: "renamed" });
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([
      403,
      "SCOPE_DELEGATION_DENIED",
      { scope: "alerts:read" },
    ]);
    expect(await scopesOf()).toEqual(["devices:read", "devices:write"]);
    expect((await change({ scopes: ["devices:write"] })).body.scopes).toEqual(["devices:write"]);
    expect((await change({ scopes: ["devices:read", "devices:write"], rateLimit: 5 })).status).toBe(200);
    const human = await apiKey(["devices:read"]);
    const own = await server.request("PATCH", `/api-keys/${human.id}`, {
      token: admin.token,
      body: { scopes: ["alerts:read"] },
    });
    expect(own.status).toBe(200);
  });

  it("refuses wildcards, unknown scopes, a taken name and callers confined to sites", async () => {
    expect((await create({ scopes: ["*"] })).body.code).toBe("WILDCARD_SCOPE");
    expect((await create({ scopes: ["organizations:write"] })).body.code).toBe("UNSUPPORTED_SCOPE");
    const { name } = await principal();
    expect((await create({ name })).body).toMatchObject({ code: "NAME_TAKEN" });
    expect((await create({ name, orgId: acme.secondOrgId })).status).toBe(201);
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
    const { id } = await principal();
    for (const [path, body] of [
      ["", { orgId: acme.orgId, name: "x" }],
      [`/${id}/rotate`, undefined],
      [`/${id}/disable`, undefined],
      [`/${id}/migrate-key`, { keyId: acme.apiKeyId }],
    ] as const) {
      const answer = await send("POST", path, body, confined.token);
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, "SITE_ACCESS_DENIED"]);
    }
  });

  it("can be disabled but not given new power while its organization is being closed", async () => {
    const { id } = await principal({ orgId: acme.secondOrgId });
    const status = (value: "archived" | "active") =>
      server.db.updateTable("organizations").set({ status: value }).where("id", "=", acme.secondOrgId).execute();
    await status("archived");
    expect((await send("POST", `/${id}/rotate`)).body.code).toBe("ORG_READ_ONLY");
    expect((await create({ orgId: acme.secondOrgId })).body.code).toBe("ORG_READ_ONLY");
    expect((await send("POST", `/${id}/disable`)).status).toBe(200);
    await status("active");
  });

  it("lists by organization and status, and cannot be reached with its own key", async () => {
    const one = await principal();
    const { key } = (await send("POST", `/${one.id}/rotate`)).body;
    await send("POST", `/${(await principal()).id}/disable`);
    const list = (query: string) => send("GET", `?orgId=${acme.orgId}&limit=100${query}`);
    const statuses = (await list("&status=disabled")).body.data.map((row: { status: string }) => row.status);
    expect(new Set(statuses)).toEqual(new Set(["disabled"]));
    const active = (await list("&status=active")).body.data;
    expect(active.find((row: { id: string }) => row.id === one.id).currentKey.keyPrefix).toBe(key.slice(0, 12));
    const withKey = await server.request("GET", "/service-principals", { headers: { "x-api-key": key } });
    expect([withKey.status, withKey.body.code]).toEqual([401, "UNAUTHENTICATED"]);
  });

  it("is recorded with the acting user, the principal and no more of a key than its prefix", async () => {
    const { id, name } = await principal({ scopes: ["devices:read"] });
    const { key, keyPrefix, apiKeyId } = (await send("POST", `/${id}/rotate`)).body;
    const [entry] = (await auditEntries(server, "service_principal.rotate_key")).filter((e) => e.resourceId === id);
    expect(entry).toMatchObject({
      actorId: admin.userId,
      orgId: acme.orgId,
      resourceName: name,
      details: { newKeyId: apiKeyId, newKeyPrefix: keyPrefix },
    });
    const all = JSON.stringify(await auditEntries(server));
    expect(all).not.toContain(key);
    expect(all).not.toContain(sha256(key));
  });
});
