import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DiscoveryHost, INSIDE, OUTSIDE, startDiscoveryHost } from "#fixtures/simulators/discovery-host";
import { seedTenant, type Tenant } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { assertSafeEndpoints, UnsafeEndpoint } from "./discovery.ts";
import { findActiveProvider } from "./find-active-provider.ts";

describe.each(databases)("discovery of identity providers on %s (cases C21)", (database) => {
  let host: DiscoveryHost;
  let server: TestServer;
  let acme: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    host = await startDiscoveryHost();
    server = await startTestServer(database, { DNS_RESOLVER: host.dns.server }, { outbound: host.outbound });
    acme = await seedTenant(server.db, server.services, "acme");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  beforeEach(() => host.reset());
  afterEach(() => expect(host.insideReached()).toBe(0));
  afterAll(async () => {
    await server?.stop();
    await host?.stop();
  });

  const send = (method: string, path: string, body?: object) =>
    server.request(method, `/sso/providers${path}`, { token: admin.token, ...(body ? { body } : {}) });
  const create = (body: object) =>
    send("POST", "", { orgId: acme.orgId, name: "login", type: "oidc", clientId: "rmm", clientSecret: "s1", ...body });
  const endpoints = (base: string) => ({
    authorizationUrl: `${base}/authorize`,
    tokenUrl: `${base}/token`,
    userInfoUrl: `${base}/userinfo`,
    jwksUrl: `${base}/jwks`,
  });
  const noEndpoints = { authorizationUrl: null, tokenUrl: null, userInfoUrl: null, jwksUrl: null };

  it("fills the endpoints from the issuer's document, and shows no secret", async () => {
    const { status, body } = await create({ issuer: host.issuer });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ issuer: host.issuer, ...endpoints(host.issuer), status: "inactive" });
    expect(body).toMatchObject({ hasClientSecret: true, configVersion: 1 });
    expect(body).not.toHaveProperty("discoveryError");
    expect(body).not.toHaveProperty("clientSecret");
    expect(host.asked).toEqual([`GET ${host.issuer}/.well-known/openid-configuration`]);
  });

  it("keeps endpoints given by hand before those found", async () => {
    const tokenUrl = `https://second.example:${host.port}/other-token`;
    const { body } = await create({ issuer: host.issuer, tokenUrl });
    expect(body).toMatchObject({ ...endpoints(host.issuer), tokenUrl });
  });

  it("stores the issuer as its document writes it, since tokens name it so", async () => {
    host.document = { issuer: `${host.issuer}/` };
    expect((await create({ issuer: host.issuer })).body.issuer).toBe(`${host.issuer}/`);
  });

  const ISSUERS: [string, () => string, string][] = [
    ["the metadata service", () => "https://169.254.169.254/", "the address is not on the public internet"],
    ["plain http", () => `http://idp.example:${host.port}`, "the address must begin with https://"],
    ["a private literal", () => `https://${INSIDE}:${host.port}`, "the address is not on the public internet"],
    ["a mapped literal", () => `https://[::ffff:${INSIDE}]:${host.port}`, "the address is not on the public internet"],
    ["an unknown name", () => "https://nobody.example", "the name of the host cannot be resolved"],
  ];
  it.each(ISSUERS)("makes the provider without endpoints when the issuer is %s", async (_, issuer, discoveryError) => {
    const { status, body } = await create({ issuer: issuer() });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ issuer: issuer(), status: "inactive", hasClientSecret: true, ...noEndpoints });
    expect(body.discoveryError).toBe(discoveryError);
    expect(host.asked).toEqual([]);
  });

  it.each(["127.0.0.2", "10.0.0.5", "192.168.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.2", "fd00::1"])(
    "asks nothing of a public name that stands for %s",
    async (address) => {
      host.dns.setAddresses("idp.example", [address]);
      const { body } = await create({ issuer: host.issuer });
      expect(body).toMatchObject({ ...noEndpoints, discoveryError: "the address is not on the public internet" });
      host.dns.setAddresses("idp.example", [OUTSIDE, address]);
      expect((await create({ issuer: host.issuer })).body).toMatchObject(noEndpoints);
      expect(host.asked).toEqual([]);
    },
  );

  it("follows no redirect inwards", async () => {
    for (const location of [`https://${INSIDE}:${host.port}/`, `https://second.example:${host.port}/`]) {
      host.dns.setAddresses("second.example", [INSIDE]);
      host.answer = (_, response) => void response.writeHead(302, { location }).end();
      const { body } = await create({ issuer: host.issuer });
      expect(body).toMatchObject({ ...noEndpoints, discoveryError: "the host redirects elsewhere" });
    }
  });

  it.each(["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"])(
    "takes nothing of a document whose %s points inwards, is not https or has credentials",
    async (field) => {
      for (const url of [
        `https://${INSIDE}:${host.port}/`,
        "http://idp.example/",
        "https://user:pw@idp.example/",
        "https://nobody.example/",
        "javascript:alert(1)",
      ]) {
        host.document = { [field]: url };
        const { body } = await create({ issuer: host.issuer });
        expect(body, url).toMatchObject(noEndpoints);
        expect(body.discoveryError).toMatch(/Endpoint: |jwksUri: /);
      }
    },
  );

  it.each(["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"])(
    "takes nothing of a document whose %s is no plain address of bounded length",
    async (field) => {
      const good = `${host.issuer}/x`;
      for (const value of [[good], { href: good }, 5, true, "", `${good}/${"a".repeat(4_000)}`, `${good}\u0000`]) {
        host.document = { [field]: value };
        const { status, body } = await create({ issuer: host.issuer });
        expect([status, body.discoveryError], JSON.stringify(value)).toEqual([201, expect.any(String)]);
        expect(body).toMatchObject(noEndpoints);
      }
    },
  );

  it("takes no document of another issuer, none that lacks an endpoint, and nothing else that answers", async () => {
    const errorOf = async () => (await create({ issuer: host.issuer })).body.discoveryError;
    host.document = { issuer: `https://second.example:${host.port}` };
    expect(await errorOf()).toBe("the document names another issuer");
    host.document = { token_endpoint: undefined };
    expect(await errorOf()).toBe("the document names no token_endpoint");
    host.document = {};
    host.answer = (_, response) => void response.end("<html>");
    expect(await errorOf()).toBe("the answer is no OpenID Connect discovery document");
    host.answer = (_, response) => void response.writeHead(500).end("{}");
    expect(await errorOf()).toBe("the answer is no OpenID Connect discovery document");
    host.answer = (_, response) => void response.end("x".repeat(2 * 1024 * 1024));
    expect(await errorOf()).toBe("the answer is too large");
  });

  it("refuses unsafe endpoints given by hand, on create and on change, and saves nothing", async () => {
    const { id } = (await create({})).body;
    const before = (await send("GET", `/${id}`)).body;
    for (const field of ["authorizationUrl", "tokenUrl", "userInfoUrl", "jwksUrl"]) {
      for (const url of [
        "http://10.0.0.5/",
        "https://10.0.0.5/",
        `https://${INSIDE}:${host.port}/`,
        "https://[::1]/",
      ]) {
        const changed = await send("PATCH", `/${id}`, { name: "other", [field]: url });
        expect([changed.status, changed.body.code, changed.body.details.field]).toEqual([400, "UNSAFE_URL", field]);
        expect((await create({ [field]: url })).body.code).toBe("UNSAFE_URL");
      }
    }
    host.dns.setAddresses("moving.example", [INSIDE]);
    const moved = await send("PATCH", `/${id}`, { tokenUrl: `https://moving.example:${host.port}/token` });
    expect(moved.body.code).toBe("UNSAFE_URL");
    expect((await send("PATCH", `/${id}`, { ssoUrl: "http://idp.example/sso" })).body.code).toBe("UNSAFE_URL");
    expect((await send("GET", `/${id}`)).body).toEqual(before);
  });

  it("saves a changed issuer only with a fresh discovery", async () => {
    const { id } = (await create({ issuer: host.issuer })).body;
    const second = `https://second.example:${host.port}`;
    const before = (await send("GET", `/${id}`)).body;
    host.answer = (_, response) => void response.writeHead(404).end();
    const refused = await send("PATCH", `/${id}`, { name: "other", issuer: second });
    expect([refused.status, refused.body.code]).toEqual([400, "OIDC_DISCOVERY_FAILED"]);
    expect((await send("GET", `/${id}`)).body).toEqual(before);
    expect((await send("PATCH", `/${id}`, { issuer: null })).body.code).toBe("OIDC_ISSUER_REQUIRED");
    const same = await send("PATCH", `/${id}`, { name: "renamed", issuer: host.issuer });
    expect([same.status, same.body.configVersion]).toEqual([200, 2]);
    host.answer = undefined;
    const saved = await send("PATCH", `/${id}`, { issuer: second });
    expect(saved.body).toMatchObject({ issuer: second, ...endpoints(second), configVersion: 3 });
  });

  it("ends the identity links of a changed issuer, and no others", async () => {
    const { id } = (await create({ issuer: host.issuer })).body;
    const link = (providerId: string) =>
      server.db
        .insertInto("ssoIdentities")
        .values({
          id: server.services.random.uuid(),
          userId: acme.memberId,
          providerId,
          externalId: "subject-1",
          email: "member@acme.example",
          profile: {},
          accessTokenSealed: null,
          refreshTokenSealed: null,
          tokenExpiresAt: null,
          lastLoginAt: server.clock.now(),
          createdAt: server.clock.now(),
          updatedAt: server.clock.now(),
        })
        .execute();
    const links = () => server.db.selectFrom("ssoIdentities").select("providerId").execute();
    await link(id);
    await link(acme.ssoProviderId);
    await send("PATCH", `/${id}`, { name: "renamed" });
    expect(await links()).toHaveLength(2);
    await send("PATCH", `/${id}`, { issuer: `https://second.example:${host.port}` });
    expect(await links()).toEqual([{ providerId: acme.ssoProviderId }]);
  });

  it("tests a provider that is not complete by asking its issuer alone, and saves nothing", async () => {
    const { id } = (await create({ issuer: host.issuer, clientSecret: null })).body;
    const before = (await send("GET", `/${id}`)).body;
    host.document = { token_endpoint: `${host.issuer}/new-token` };
    const { status, body } = await send("POST", `/${id}/test`);
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        discovery: {
          issuer: host.issuer,
          authorizationEndpoint: `${host.issuer}/authorize`,
          tokenEndpoint: `${host.issuer}/new-token`,
          userInfoEndpoint: `${host.issuer}/userinfo`,
          jwksUri: `${host.issuer}/jwks`,
        },
        signIn: {
          missing: ["clientSecret"],
          tokenAuthMethod: "client_secret_basic",
          idTokenAlgorithms: expect.arrayContaining(["RS256", "ES256"]),
          callbackUrl: `${server.url}/api/v1/sso/callback`,
        },
      },
    ]);
    host.dns.setAddresses("idp.example", [INSIDE]);
    const failed = await send("POST", `/${id}/test`);
    expect([failed.status, failed.body]).toEqual([
      400,
      {
        error: "OIDC discovery failed",
        code: "OIDC_DISCOVERY_FAILED",
        success: false,
        details: { reason: "the address is not on the public internet" },
      },
    ]);
    const saml = (await create({ type: "saml", issuer: host.issuer })).body;
    expect((await send("POST", `/${saml.id}/test`)).body).toMatchObject({
      code: "OIDC_DISCOVERY_FAILED",
      success: false,
    });
    expect((await send("GET", `/${id}`)).body).toEqual(before);
  });

  it("finds stored endpoints unsafe once their name stands for something else", async () => {
    const { id } = (await create({ orgId: acme.secondOrgId, issuer: host.issuer })).body;
    const tokenUrl = `https://moving.example:${host.port}/token`;
    await send("PATCH", `/${id}`, { tokenUrl, clientSecret: "s1" });
    expect((await send("POST", `/${id}/status`, { status: "active" })).status).toBe(200);
    const provider = await findActiveProvider(server.db, { orgId: acme.secondOrgId });
    if (!provider) throw new Error("no active provider");
    await assertSafeEndpoints(provider, server.services);
    host.dns.setAddresses("moving.example", [INSIDE]);
    const refusal = await assertSafeEndpoints(provider, server.services).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UnsafeEndpoint);
    expect((refusal as UnsafeEndpoint).endpoint).toBe("tokenUrl");
  });

  it("holds no transaction open while it waits for the issuer, with an idempotency key neither", async () => {
    let waiting: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      host.answer = (_, response) => {
        waiting = () => response.writeHead(404).end();
        resolve();
      };
    });
    const body = { orgId: acme.orgId, name: "slow", type: "oidc", issuer: host.issuer };
    const headers = { "x-idempotency-key": `create-slow-${database}` };
    const slow = server.request("POST", "/sso/providers", { token: admin.token, body, headers });
    await asked;
    const other = await server.request("POST", "/sso/domains", {
      token: admin.token,
      body: { orgId: acme.orgId, domain: `${database}.meanwhile.example` },
    });
    expect(other.status).toBe(201);
    // The replay checks its right to the answer by the same steps, and asks again.
    host.answer = (_, response) => response.writeHead(404).end();
    waiting();
    const first = await slow;
    expect([first.status, first.body.discoveryError]).toEqual([
      201,
      "the answer is no OpenID Connect discovery document",
    ]);
    const again = await server.request("POST", "/sso/providers", { token: admin.token, body, headers });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
  });
});
