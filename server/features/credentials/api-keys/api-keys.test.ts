import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKeyScopes } from "#contract/core/key-scopes";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, START, startTestServer, type TestServer } from "../../../test/harness.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const minutesOn = (minutes: number) => new Date(Date.parse(START) + minutes * 60_000).toISOString();

describe.each(databases)("API keys on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, `/api-keys${path}`, { token, ...(body ? { body } : {}) });
  const create = (body: object, token?: string) =>
    send("POST", "", { orgId: acme.secondOrgId, name: "key", ...body }, token);
  const made = async (body: object = {}) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const stored = (id: string) =>
    server.db.selectFrom("apiKeys").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const store = (id: string, change: object) =>
    server.db.updateTable("apiKeys").set(change).where("id", "=", id).execute();
  const organization = (status: "active" | "churned" | "archived" | "suspended") =>
    server.db.updateTable("organizations").set({ status }).where("id", "=", acme.secondOrgId).execute();

  it("shows the key once, with its warning, and stores its hash and twelve characters", async () => {
    const body = await made({ scopes: ["devices:read", "devices:read", "tickets:write"] });
    expect(Object.keys(body).sort()).toEqual([
      "createdAt",
      "createdBy",
      "expiresAt",
      "id",
      "key",
      "keyPrefix",
      "name",
      "orgId",
      "rateLimit",
      "scopes",
      "status",
      "warning",
    ]);
    expect(body).toMatchObject({
      orgId: acme.secondOrgId,
      scopes: ["devices:read", "tickets:write"],
      expiresAt: null,
      rateLimit: 1000,
      status: "active",
      createdBy: admin.userId,
      keyPrefix: body.key.slice(0, 12),
    });
    expect(body.key).toMatch(/^svc_[A-Za-z0-9_-]{32}$/);
    expect((await stored(body.id)).keyHash).toBe(sha256(body.key));
    const read = await send("GET", `/${body.id}`);
    expect(read.body).toMatchObject({ principalType: "human", principalId: null, usageCount: 0, lastUsedAt: null });
    expect(read.body).not.toHaveProperty("key");
    expect(read.body).not.toHaveProperty("keyHash");
  });

  it("refuses scopes outside the vocabulary, and wildcards above all", async () => {
    expect((await create({ scopes: ["*"] })).body).toMatchObject({
      code: "WILDCARD_SCOPE",
      error: "Wildcard API key scopes are not supported",
    });
    expect((await create({ scopes: ["devices:*"] })).body.code).toBe("WILDCARD_SCOPE");
    expect((await create({ scopes: ["users:read"] })).body).toMatchObject({
      code: "UNSUPPORTED_SCOPE",
      error: "Unsupported API key scope: users:read",
      details: { supportedScopes: [...apiKeyScopes] },
    });
    expect((await made({ scopes: [...apiKeyScopes] })).scopes).toEqual([...apiKeyScopes]);
  });

  it("gets only scopes that the caller holds: on create, on a change of scopes, on rotation", async () => {
    const limited = await server.signIn({
      role: "",
      partnerId: acme.partnerId,
      permissions: ["organizations:read", "organizations:write", "devices:read"],
    });
    expect((await create({ scopes: ["devices:read"] }, limited.token)).status).toBe(201);
    expect((await create({ scopes: ["devices:read", "devices:write"] }, limited.token)).body).toMatchObject({
      code: "SCOPE_DELEGATION_DENIED",
      details: { scope: "devices:write" },
    });
    const strong = await made({ scopes: ["devices:read", "scripts:execute"] });
    expect((await send("PATCH", `/${strong.id}`, { scopes: ["scripts:execute"] }, limited.token)).body.code).toBe(
      "SCOPE_DELEGATION_DENIED",
    );
    expect((await send("POST", `/${strong.id}/rotate`, undefined, limited.token)).body.code).toBe(
      "SCOPE_DELEGATION_DENIED",
    );
    expect((await stored(strong.id)).keyHash).toBe(sha256(strong.key));
    expect((await send("PATCH", `/${strong.id}`, { name: "renamed" }, limited.token)).body.name).toBe("renamed");
    expect((await send("PATCH", `/${strong.id}`, { scopes: ["devices:read"] }, limited.token)).status).toBe(200);
    expect((await send("POST", `/${strong.id}/rotate`, undefined, limited.token)).status).toBe(200);
  });

  it("refuses bodies outside the contract", async () => {
    for (const body of [
      { orgId: undefined },
      { name: "" },
      { name: "n".repeat(256) },
      { rateLimit: 0 },
      { rateLimit: 100_001 },
      { rateLimit: "10" },
      { expiresAt: "" },
      { expiresAt: START },
      { expiresAt: "2020-01-01T00:00:00Z" },
      { scopes: "devices:read" },
      { status: "active" },
      { key: "svc_chosen" },
    ]) {
      expect((await create(body)).body.code, JSON.stringify(body).slice(0, 40)).toBe("VALIDATION_ERROR");
    }
    expect((await made({ expiresAt: minutesOn(1), rateLimit: 100_000 })).expiresAt).toBe(minutesOn(1));
  });

  it("changes name, scopes and rate limit; an empty list replaces, an omitted one stays (C12)", async () => {
    const { id } = await made({ scopes: ["devices:read"] });
    const patch = (body: object) => send("PATCH", `/${id}`, body);
    expect((await patch({ scopes: [] })).body.scopes).toEqual([]);
    expect((await patch({ name: "n", rateLimit: 5 })).body).toMatchObject({ name: "n", rateLimit: 5, scopes: [] });
    expect((await patch({})).body.code).toBe("NO_UPDATES");
    for (const body of [{ bogus: 1 }, { expiresAt: null }, { name: null }, { orgId: acme.orgId }]) {
      expect((await patch(body)).body.code).toBe("VALIDATION_ERROR");
    }
    expect((await patch({ scopes: ["*"] })).body.code).toBe("WILDCARD_SCOPE");
    const entries = (await auditEntries(server, "api_key.update")).filter((one) => one.resourceId === id);
    expect(entries.filter((one) => one.result === "success").map((one) => one.details["changedFields"])).toEqual([
      ["scopes"],
      ["name", "rateLimit"],
    ]);
    expect(entries[0]?.details).toMatchObject({ previousScopes: ["devices:read"], scopes: [] });
  });

  it("rotates: new prefix and hash, counters reset, everything else kept (C05)", async () => {
    const first = await made({ scopes: ["sites:read"], rateLimit: 7, expiresAt: minutesOn(60) });
    await store(first.id, { usageCount: 12, lastUsedAt: START });
    const { status, body } = await send("POST", `/${first.id}/rotate`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rateLimit: 7,
      scopes: ["sites:read"],
      expiresAt: minutesOn(60),
      usageCount: 0,
      lastUsedAt: null,
    });
    expect(body.key).not.toBe(first.key);
    expect(body.warning).toBe(first.warning);
    expect(await stored(first.id)).toMatchObject({ keyHash: sha256(body.key), keyPrefix: body.key.slice(0, 12) });
    const entry = (await auditEntries(server, "api_key.rotate")).find((one) => one.resourceId === first.id);
    expect(entry?.details).toMatchObject({ keyPrefix: body.keyPrefix, previousKeyPrefix: first.keyPrefix });
  });

  it("tells the age of the material: a rotation makes it young, a change of name does not", async () => {
    const { id } = await made();
    server.clock.advance(60_000);
    expect((await send("PATCH", `/${id}`, { name: "renamed" })).body).toMatchObject({ keyIssuedAt: START });
    const { body } = await send("POST", `/${id}/rotate`);
    expect(body).toMatchObject({ createdAt: START, keyIssuedAt: server.clock.now() });
    expect((await send("GET", `/${id}`)).body.keyIssuedAt).toBe(server.clock.now());
    server.clock.advance(-60_000);
  });

  it("revokes for good: afterwards nothing changes the key (C05)", async () => {
    const { id, keyPrefix, name } = await made();
    const revoked = await send("DELETE", `/${id}`);
    expect(revoked.body).toMatchObject({ success: true, apiKey: { id, name, keyPrefix, status: "revoked" } });
    expect(Object.keys(revoked.body.apiKey).sort()).toEqual(["id", "keyPrefix", "name", "status", "updatedAt"]);
    for (const [method, path, body] of [
      ["PATCH", `/${id}`, { name: "x" }],
      ["POST", `/${id}/rotate`],
      ["DELETE", `/${id}`],
    ] as const) {
      expect(await send(method, path, body)).toMatchObject({
        status: 400,
        body: { code: "API_KEY_NOT_ACTIVE", error: "Cannot update revoked API key" },
      });
    }
    expect((await send("GET", `/${id}`)).body.status).toBe("revoked");
    const entry = (await auditEntries(server, "api_key.revoke")).find((one) => one.resourceId === id);
    expect(entry?.details).toMatchObject({ keyPrefix, previousStatus: "active" });
  });

  it("counts a key as expired from its end, marked or not, and lets it be revoked", async () => {
    const { id } = await made({ expiresAt: minutesOn(5) });
    const marked = await made({ expiresAt: minutesOn(5) });
    await store(marked.id, { status: "expired" });
    const listed = async (status: string) =>
      (await send("GET", `?orgId=${acme.secondOrgId}&limit=100&status=${status}`)).body.data.map(
        (one: { id: string; status: string }) => [one.id, one.status],
      );
    expect(await listed("active")).toContainEqual([id, "active"]);
    server.clock.set(minutesOn(5));
    expect(await listed("active")).not.toContainEqual([id, "active"]);
    const expired = await listed("expired");
    expect(expired).toContainEqual([id, "expired"]);
    expect(expired).toContainEqual([marked.id, "expired"]);
    expect((await send("PATCH", `/${id}`, { name: "x" })).body.error).toBe("Cannot update expired API key");
    expect((await send("POST", `/${id}/rotate`)).body.code).toBe("API_KEY_NOT_ACTIVE");
    for (const one of [id, marked.id]) expect((await send("DELETE", `/${one}`)).body.apiKey.status).toBe("revoked");
    expect(await listed("revoked")).toContainEqual([id, "revoked"]);
    server.clock.set(START);
    const entry = (await auditEntries(server, "api_key.revoke")).find((one) => one.resourceId === id);
    expect(entry?.details["previousStatus"]).toBe("expired");
  });

  it("revokes once of many at the same moment, and never rotates a revoked key back to life", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await made();
      const answers = await Promise.all([
        send("DELETE", `/${id}`),
        send("DELETE", `/${id}`),
        send("POST", `/${id}/rotate`),
        send("PATCH", `/${id}`, { name: "raced" }),
      ]);
      expect(
        answers
          .slice(0, 2)
          .map((answer) => answer.status)
          .sort(),
      ).toEqual([200, 400]);
      for (const answer of answers.slice(2)) expect([200, 400]).toContain(answer.status);
      expect((await stored(id)).status).toBe("revoked");
    }
  });

  it("keeps one working key of parallel rotations, with an unbroken line of prefixes in the audit", async () => {
    const first = await made();
    const answers = await Promise.all([1, 2, 3].map(() => send("POST", `/${first.id}/rotate`)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    const { keyHash } = await stored(first.id);
    expect(answers.filter((answer) => sha256(answer.body.key) === keyHash)).toHaveLength(1);
    const entries = (await auditEntries(server, "api_key.rotate")).filter((one) => one.resourceId === first.id);
    const replaced = entries.map((one) => one.details["previousKeyPrefix"]);
    expect(new Set(replaced).size).toBe(3);
    expect(replaced).toContain(first.keyPrefix);
  });

  it("leaves the keys of service principals to their own routes", async () => {
    const { id } = await made();
    await server.db.deleteFrom("apiKeys").where("id", "=", id).execute();
    const principalId = acme.servicePrincipalId;
    await server.db
      .insertInto("apiKeys")
      .values({
        id,
        orgId: acme.orgId,
        name: "service",
        keyPrefix: "svc_service0",
        keyHash: sha256(id),
        scopes: [],
        expiresAt: null,
        rateLimit: 1,
        status: "active",
        principalType: "service",
        principalId,
        createdBy: null,
        lastUsedAt: null,
        usageCount: 0,
        keyIssuedAt: START,
        createdAt: START,
        updatedAt: START,
      })
      .execute();
    expect((await send("POST", `/${id}/rotate`)).body.code).toBe("SERVICE_PRINCIPAL_KEY");
    expect((await send("GET", `/${id}`)).body).toMatchObject({ principalType: "service", principalId });
  });

  it("is read-only while the organization is wound down, except for revoking", async () => {
    const { id } = await made();
    await organization("suspended");
    expect((await create({})).status).toBe(201);
    for (const status of ["churned", "archived"] as const) {
      await organization(status);
      expect((await create({})).body.code).toBe("ORG_READ_ONLY");
      expect((await send("PATCH", `/${id}`, { name: "x" })).body.code).toBe("ORG_READ_ONLY");
      expect((await send("POST", `/${id}/rotate`)).body.code).toBe("ORG_READ_ONLY");
    }
    expect((await send("DELETE", `/${id}`)).status).toBe(200);
    await organization("active");
  });

  it("leaves no active key behind when one is made while its organization is deleted", async () => {
    for (let round = 0; round < 3; round += 1) {
      const slug = `closing-${round}`;
      const org = await server.request("POST", "/orgs/organizations", {
        token: admin.token,
        body: { name: slug, slug },
      });
      const [key, , removed] = await Promise.all([
        create({ orgId: org.body.id }),
        create({ orgId: org.body.id }),
        server.request("DELETE", `/orgs/organizations/${org.body.id}`, { token: admin.token }),
      ]);
      expect(removed.status).toBe(200);
      expect([undefined, "ORG_ACCESS_DENIED", "ORG_READ_ONLY"]).toContain(key.body.code);
      const left = await server.db.selectFrom("apiKeys").select("status").where("orgId", "=", org.body.id).execute();
      expect(left.filter((row) => row.status === "active")).toEqual([]);
    }
  });

  it("keeps callers confined to sites from every change, and tenants apart", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
    for (const [method, path, body] of [
      ["POST", "", { orgId: acme.orgId, name: "x" }],
      ["PATCH", `/${acme.apiKeyId}`, { name: "x" }],
      ["DELETE", `/${acme.apiKeyId}`],
      ["POST", `/${acme.apiKeyId}/rotate`],
    ] as const) {
      expect((await send(method, path, body, confined.token)).body.code).toBe("SITE_ACCESS_DENIED");
    }
    expect((await send("GET", `/${acme.apiKeyId}`, undefined, confined.token)).status).toBe(200);
    for (const id of [other.apiKeyId, server.services.random.uuid()]) {
      for (const [method, path, body] of [
        ["GET", `/${id}`],
        ["PATCH", `/${id}`, { name: "x" }],
        ["DELETE", `/${id}`],
        ["POST", `/${id}/rotate`],
      ] as const) {
        expect((await send(method, path, body)).body).toEqual({ error: "Not found", code: "NOT_FOUND" });
      }
    }
    for (const orgId of [other.orgId, server.services.random.uuid()]) {
      expect((await create({ orgId })).body.code).toBe("ORG_ACCESS_DENIED");
      expect((await send("GET", `?orgId=${orgId}`)).body.code).toBe("ORG_ACCESS_DENIED");
    }
    const list = await send("GET", "?limit=100");
    expect(list.body.data.map((one: { orgId: string }) => one.orgId)).not.toContain(other.orgId);
  });

  it("never shows key or hash again: not in reads, audit entries or errors (C04)", async () => {
    const first = await made({ name: "Secretive" });
    const { body: second } = await send("POST", `/${first.id}/rotate`);
    const viewer = await server.signIn({ role: "Partner Viewer", partnerId: acme.partnerId });
    const texts = [
      await send("GET", "?limit=100", undefined, viewer.token),
      await send("GET", `/${first.id}`, undefined, viewer.token),
      await send("PATCH", `/${first.id}`, { name: "Discreet" }),
      await send("DELETE", `/${first.id}`),
      await send("POST", `/${first.id}/rotate`),
    ].map((answer) => JSON.stringify(answer.body));
    texts.push(JSON.stringify(await auditEntries(server)));
    for (const { key } of [first, second]) {
      for (const secret of [key, sha256(key)]) for (const text of texts) expect(text).not.toContain(secret);
    }
    for (const text of texts.slice(0, 2)) expect(text).toContain(second.keyPrefix);
  });

  it("does not let a key manage keys, whatever it may do (C09)", async () => {
    const { key } = await made({ scopes: [...apiKeyScopes] });
    for (const given of [key, `${key} x`, "svc_sp_x", ""]) {
      const answer = await server.request("GET", "/api-keys", { headers: { "x-api-key": given } });
      expect(answer).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
    }
  });

  it("needs organizations:write and MFA to change, and refuses malformed ids (C16)", async () => {
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    expect((await create({ orgId: acme.orgId }, viewer.token)).body.code).toBe("PERMISSION_DENIED");
    const hurried = await server.signIn({ role: "Org Admin", orgId: acme.orgId, mfa: false });
    expect((await create({ orgId: acme.orgId }, hurried.token)).body.code).toBe("MFA_REQUIRED");
    expect((await send("GET", "/%5Bobject%20Object%5D")).body.code).toBe("VALIDATION_ERROR");
    expect((await send("GET", "?status=paused")).body.code).toBe("VALIDATION_ERROR");
  });
});
