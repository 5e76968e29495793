import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { apiKey, staff } from "#contract/core/access";
import { get, resource } from "#contract/core/endpoint";
import { seedTenant, type Tenant } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";
import { implement } from "./implement.ts";
import { httpApp } from "./router.ts";

const seen = () => z.object({ kind: z.string(), organizations: z.array(z.string()) });

/** Endpoints of this test alone: what the product's key surfaces will be made of. */
const probes = resource(
  { name: "probes", summary: "Endpoints of this test", audits: [] },
  {
    scoped: get("/probes/scoped", { summary: "x", access: apiKey("devices:read", "devices:write"), returns: seen }),
    unscoped: get("/probes/unscoped", { summary: "x", access: apiKey(), returns: seen }),
    either: get("/probes/either", {
      summary: "x",
      access: staff().needs("devices:read").orApiKey("devices:read"),
      returns: seen,
    }),
  },
);

describe.each(databases)("API keys through the pipeline on %s", (database) => {
  let server: TestServer;
  let probe: Server;
  let acme: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    await seedTenant(server.db, server.services, "other");
    const look = async (call: Parameters<Parameters<typeof implement<typeof probes>>[1]["scoped"]>[0]) => ({
      kind: call.who.kind,
      organizations: (await call.db.selectFrom("organizations").select("id").execute()).map(({ id }) => id),
    });
    const routes = implement(probes, { scoped: look, unscoped: look, either: look });
    probe = createServer(httpApp(server.services, routes)).listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
  });
  // Access tokens end while the clock of these tests goes on.
  beforeEach(async () => {
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(async () => {
    probe?.close();
    await server?.stop();
  });

  const call = async (path: string, headers: Record<string, string> = {}) => {
    const url = `http://127.0.0.1:${(probe.address() as AddressInfo).port}/api/v1/probes/${path}`;
    const response = await fetch(url, { headers });
    return {
      status: response.status,
      body: (await response.json()) as Record<string, unknown>,
      headers: response.headers,
    };
  };
  const withKey = (path: string, key: string) => call(path, { "x-api-key": key });
  const manage = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, path, { token, ...(body ? { body } : {}) });
  const made = async (body: object = {}, token = admin.token) => {
    const answer = await manage(
      "POST",
      "/api-keys",
      { orgId: acme.orgId, name: "k", scopes: ["devices:read"], ...body },
      token,
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as { id: string; key: string };
  };
  const row = (id: string) =>
    server.db.selectFrom("apiKeys").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const said = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
    status,
    body["code"],
    body["error"],
  ];

  it("sees its own organization and nothing else", async () => {
    const { key } = await made();
    const answer = await withKey("scoped", key);
    expect([answer.status, answer.body]).toEqual([200, { kind: "apiKey", organizations: [acme.orgId] }]);
  });

  it("is refused in the specified order and words (C07)", async () => {
    const { id, key } = await made({ expiresAt: new Date(server.clock.nowMs() + 60_000).toISOString() });
    expect(said(await call("scoped"))).toEqual([401, "API_KEY_MISSING", "Missing X-API-Key header"]);
    expect(said(await withKey("scoped", "key_123"))).toEqual([401, "API_KEY_INVALID_FORMAT", "Invalid API key format"]);
    expect(said(await withKey("scoped", `${key}x`))).toEqual([401, "API_KEY_INVALID", "Invalid API key"]);
    expect(said(await withKey("scoped", key.slice(0, -1)))).toEqual([401, "API_KEY_INVALID", "Invalid API key"]);
    expect(said(await withKey("scoped", `svc_sp_${"a".repeat(43)}`))).toEqual([
      401,
      "API_KEY_INVALID",
      "Invalid API key",
    ]);
    expect((await withKey("scoped", key)).status).toBe(200);
    server.clock.advance(60_000);
    expect((await row(id)).status).toBe("active");
    expect(said(await withKey("scoped", key))).toEqual([401, "API_KEY_EXPIRED", "API key is expired"]);
    expect((await row(id)).status).toBe("expired");
    expect(said(await withKey("scoped", key))).toEqual([401, "API_KEY_EXPIRED", "API key is expired"]);
    await manage("DELETE", `/api-keys/${id}`);
    expect(said(await withKey("scoped", key))).toEqual([401, "API_KEY_REVOKED", "API key is revoked"]);
  });

  it("stops immediately with its rotation and its revocation, and its counters restart (C05)", async () => {
    const { id, key } = await made();
    for (let use = 0; use < 3; use += 1) expect((await withKey("scoped", key)).status).toBe(200);
    const { body } = await manage("POST", `/api-keys/${id}/rotate`);
    expect(said(await withKey("scoped", key))).toEqual([401, "API_KEY_INVALID", "Invalid API key"]);
    expect((await withKey("scoped", body.key)).status).toBe(200);
    await server.services.keyUsage.flush();
    expect(await row(id)).toMatchObject({ usageCount: 1, lastUsedAt: server.clock.now() });
    await manage("DELETE", `/api-keys/${id}`);
    expect((await withKey("scoped", body.key)).body["code"]).toBe("API_KEY_REVOKED");
  });

  it("needs one of the endpoint's scopes, and none where none is asked for", async () => {
    const { key } = await made({ scopes: ["audit:read"] });
    const refused = await withKey("scoped", key);
    expect(said(refused)).toEqual([403, "API_KEY_SCOPE_REQUIRED", "API key does not have required permissions"]);
    expect(refused.body["details"]).toEqual({ required: ["devices:read", "devices:write"], available: ["audit:read"] });
    expect(refused.headers.get("x-ratelimit-limit")).toBe("1000");
    expect((await withKey("unscoped", (await made({ scopes: [] })).key)).status).toBe(200);
    expect((await withKey("scoped", (await made({ scopes: ["devices:write"] })).key)).status).toBe(200);
  });

  it("decides alone where it is given beside a bearer token", async () => {
    const { key } = await made();
    const authorization = `Bearer ${admin.token}`;
    expect((await call("either", { authorization })).body["kind"]).toBe("user");
    expect((await call("either", { authorization, "x-api-key": key })).body["kind"]).toBe("apiKey");
    expect(said(await call("either", { authorization, "x-api-key": `${key}x` }))[1]).toBe("API_KEY_INVALID");
    expect(said(await call("either"))[1]).toBe("UNAUTHENTICATED");
    expect(said(await call("scoped", { authorization }))[1]).toBe("API_KEY_MISSING");
  });

  it("ends with what stands behind it: organization, creator, the creator's rights, its principal", async () => {
    const creator = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    const { key } = await made({}, creator.token);
    const inactive = [401, "API_KEY_OWNER_INACTIVE", "API key owner is not active"];
    const during = async (
      change: () => Promise<unknown>,
      back: () => Promise<unknown>,
      wanted: unknown[] = inactive,
    ) => {
      await change();
      expect(said(await withKey("scoped", key))).toEqual(wanted);
      await back();
      expect((await withKey("scoped", key)).status).toBe(200);
    };
    const org = (status: "active" | "suspended") => () =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", acme.orgId).execute();
    const person = (status: "active" | "disabled") => () =>
      server.db.updateTable("users").set({ status }).where("id", "=", creator.userId).execute();
    const sites = (siteIds: string[] | null) => () =>
      server.db.updateTable("organizationUsers").set({ siteIds }).where("userId", "=", creator.userId).execute();
    const partner = (status: "active" | "suspended") => () =>
      server.db.updateTable("partners").set({ status }).where("id", "=", acme.partnerId).execute();
    await during(org("suspended"), org("active"));
    await during(person("disabled"), person("active"));
    await during(sites([acme.siteId]), sites(null));
    await during(partner("suspended"), partner("active"), [403, "PARTNER_INACTIVE", "Account inactive"]);
    await server.db.deleteFrom("organizationUsers").where("userId", "=", creator.userId).execute();
    expect(said(await withKey("scoped", key))).toEqual(inactive);
  });

  it("ends when its creator's role no longer gives one of its scopes, and a narrower one goes on", async () => {
    const creator = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    const reading = await made({}, creator.token);
    const writing = await made({ scopes: ["devices:read", "devices:write"] }, creator.token);
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.orgId });
    const { roleId } = await server.db
      .selectFrom("organizationUsers")
      .select("roleId")
      .where("userId", "=", viewer.userId)
      .executeTakeFirstOrThrow();
    expect((await withKey("scoped", writing.key)).status).toBe(200);
    await server.db.updateTable("organizationUsers").set({ roleId }).where("userId", "=", creator.userId).execute();
    expect((await withKey("scoped", writing.key)).body["code"]).toBe("API_KEY_OWNER_INACTIVE");
    expect((await withKey("scoped", reading.key)).status).toBe(200);
  });

  it("of a service principal outlives its maker, ends with the principal and never exceeds its scopes", async () => {
    const maker = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    const body = { orgId: acme.orgId, name: "deploy", scopes: ["devices:read"] };
    const principal = (await manage("POST", "/service-principals", body, maker.token)).body;
    const { key, apiKeyId } = (
      await manage("POST", `/service-principals/${principal.id}/rotate`, undefined, maker.token)
    ).body;
    await server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", maker.userId).execute();
    expect((await withKey("scoped", key)).status).toBe(200);
    const beyond = await manage("PATCH", `/api-keys/${apiKeyId}`, { scopes: ["audit:read"] });
    expect([beyond.status, beyond.body.code]).toEqual([403, "SCOPE_DELEGATION_DENIED"]);
    expect((await row(apiKeyId)).scopes).toEqual(["devices:read"]);
    await server.db
      .updateTable("apiKeys")
      .set({ scopes: ["audit:read"] })
      .where("id", "=", apiKeyId)
      .execute();
    expect((await withKey("scoped", key)).body["details"]).toMatchObject({ available: [] });
    await server.db
      .updateTable("servicePrincipals")
      .set({ status: "disabled" })
      .where("id", "=", principal.id)
      .execute();
    expect((await withKey("scoped", key)).body["code"]).toBe("API_KEY_OWNER_INACTIVE");
  });

  it("counts down its hourly window; refused calls cost nothing and one slot frees at a time (C06)", async () => {
    const { key } = await made({ rateLimit: 5 });
    const start = server.clock.nowMs();
    const at = (minutes: number) => server.clock.advance(start + minutes * 60_000 - server.clock.nowMs());
    const left: (string | null)[] = [];
    for (let use = 0; use < 5; use += 1) {
      at(use * 10);
      const answer = await withKey("scoped", key);
      left.push(answer.headers.get("x-ratelimit-remaining"));
      expect(answer.headers.get("x-ratelimit-limit")).toBe("5");
      expect(answer.headers.get("retry-after")).toBeNull();
    }
    expect(left).toEqual(["4", "3", "2", "1", "0"]);
    at(41);
    const refused = await withKey("scoped", key);
    expect(said(refused)).toEqual([429, "RATE_LIMITED", "Rate limit exceeded"]);
    const reset = Number(refused.headers.get("x-ratelimit-reset"));
    expect(reset).toBeGreaterThanOrEqual((start + 60 * 60_000) / 1_000);
    expect(reset).toBeLessThanOrEqual((start + 61 * 60_000) / 1_000 + 1);
    expect(Number(refused.headers.get("retry-after"))).toBe(reset - Math.floor(server.clock.nowMs() / 1_000));
    const passed: number[] = [];
    for (let minute = 42; minute <= 69; minute += 1) {
      at(minute);
      if ((await withKey("scoped", key)).status === 200) passed.push(minute);
    }
    expect(passed).toHaveLength(1);
    expect(passed[0]).toBeGreaterThanOrEqual(60);
    expect(passed[0]).toBeLessThanOrEqual(61);
  });

  it("lets exactly its limit through when calls come at once, and counts every one of them", async () => {
    const { id, key } = await made({ rateLimit: 10 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => withKey("scoped", key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
    await Promise.all([server.services.keyUsage.flush(), server.services.keyUsage.flush()]);
    expect((await row(id)).usageCount).toBe(10);
  });

  it("keeps uses that could not be written for the next time", async () => {
    const { id, key } = await made();
    await withKey("scoped", key);
    const { keyUsage } = server.services;
    const db = server.services.store.connection("system");
    const broken = Object.getPrototypeOf(db) as { updateTable: unknown };
    const update = broken.updateTable;
    broken.updateTable = () => {
      throw new Error("no database");
    };
    await keyUsage.flush();
    broken.updateTable = update;
    expect((await row(id)).usageCount).toBe(0);
    await keyUsage.flush();
    expect((await row(id)).usageCount).toBe(1);
  });

  it("stops an address that guesses keys, whatever it sends next", async () => {
    const { key } = await made();
    server.clock.advance(120_000);
    for (let guess = 0; guess < 300; guess += 10) {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => withKey("scoped", `svc_${guess + at}`)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    }
    const stopped = await withKey("scoped", key);
    expect([stopped.status, stopped.body["code"]]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(stopped.headers.get("retry-after"))).toBeGreaterThan(0);
    server.clock.advance(62_000);
    expect((await withKey("scoped", key)).status).toBe(200);
  });
});
