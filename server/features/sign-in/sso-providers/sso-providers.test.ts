import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { builtInRoleId } from "#server/access/roles";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { openClientSecret } from "./client-secret.ts";
import { findActiveProvider } from "./find-active-provider.ts";

describe.each(databases)("identity providers on %s", (database) => {
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
    server.request(method, `/sso/providers${path}`, { token, ...(body ? { body } : {}) });
  const create = (body: object, token?: string) =>
    send("POST", "", { orgId: acme.orgId, name: "login", type: "oidc", ...body }, token);
  const provider = async (body: object = {}, token?: string) => {
    const answer = await create(body, token);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const codeOf = async (answer: ReturnType<typeof send>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };
  const complete = {
    issuer: "https://192.0.2.1",
    clientId: "rmm",
    clientSecret: "planted-secret-1",
    authorizationUrl: "https://8.8.8.8/authorize",
    tokenUrl: "https://8.8.8.8/token",
    jwksUrl: "https://8.8.8.8/jwks",
  };
  const row = (id: string) =>
    server.db.selectFrom("ssoProviders").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  it("begins inactive with the specified defaults", async () => {
    expect(await provider()).toEqual({
      id: expect.any(String),
      ownerScope: "organization",
      orgId: acme.orgId,
      partnerId: null,
      name: "login",
      type: "oidc",
      preset: null,
      issuer: null,
      clientId: null,
      hasClientSecret: false,
      scopes: "openid profile email",
      attributeMapping: { email: "email", name: "name" },
      autoProvision: true,
      defaultRoleId: null,
      defaultRoleConfiguredBy: null,
      allowedDomains: null,
      enforceSSO: false,
      trustsIdpMfa: false,
      status: "inactive",
      authorizationUrl: null,
      tokenUrl: null,
      userInfoUrl: null,
      jwksUrl: null,
      ownCallback: false,
      entityId: null,
      ssoUrl: null,
      certificate: null,
      configVersion: 1,
      createdBy: admin.userId,
      createdAt: server.clock.now(),
      updatedAt: server.clock.now(),
    });
  });

  it("publishes the presets with their placeholders, and takes scopes and mapping from them", async () => {
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.orgId, mfa: false });
    const { data } = (await server.request("GET", "/sso/presets", { token: viewer.token })).body;
    const templates = data.map((preset: Record<string, string>) => [
      preset["id"],
      preset["type"],
      [...(preset["issuerTemplate"] ?? preset["ssoUrlTemplate"] ?? "").matchAll(/\{([^}]+)\}/g)].map((one) => one[1]),
    ]);
    expect(templates).toEqual([
      ["cloud-directory", "oidc", ["tenant"]],
      ["workforce-idp", "oidc", ["domain"]],
      ["workspace-idp", "oidc", []],
      ["customer-idp", "oidc", ["domain"]],
      ["cloud-directory-saml", "saml", ["tenant"]],
      ["workforce-idp-saml", "saml", ["domain", "appId"]],
      ["identity-suite-saml", "saml", ["domain", "appId"]],
      ["federation-server-saml", "saml", ["adfs-server"]],
      ["workspace-idp-saml", "saml", ["idpId"]],
    ]);
    const made = await provider({ preset: "workforce-idp" });
    expect(made).toMatchObject({
      preset: "workforce-idp",
      scopes: "openid profile email groups",
      attributeMapping: {
        email: "email",
        name: "name",
        firstName: "given_name",
        lastName: "family_name",
        groups: "groups",
      },
    });
    expect(await provider({ preset: "workforce-idp", scopes: " openid  email openid" })).toMatchObject({
      scopes: "openid email",
    });
    const changed = await send("PATCH", `/${made.id}`, {
      scopes: "openid",
      attributeMapping: { email: "m", name: "n" },
    });
    expect(changed.body).toMatchObject({ scopes: "openid", attributeMapping: { email: "m", name: "n" } });
    const reset = await send("PATCH", `/${made.id}`, { scopes: null, attributeMapping: null });
    expect(reset.body).toMatchObject({ scopes: made.scopes, attributeMapping: made.attributeMapping });
    expect(await codeOf(create({ preset: "nobody" }))).toEqual([400, "UNKNOWN_PRESET"]);
    expect(await codeOf(create({ preset: "workforce-idp-saml" }))).toEqual([400, "UNKNOWN_PRESET"]);
  });

  it("refuses malformed fields, and those a change may not touch", async () => {
    const { id } = await provider();
    for (const body of [
      { name: "" },
      { name: "x".repeat(256) },
      { type: "ldap" },
      { issuer: "idp.example" },
      { issuer: "ftp://idp.example" },
      { tokenUrl: "javascript:alert(1)" },
      { attributeMapping: { email: "email" } },
      { attributeMapping: { email: "email", name: "name", admin: "x" } },
      { allowedDomains: "not a domain" },
      { allowedDomains: "a.example,*.b.example" },
      { allowedDomains: `${"a".repeat(1000)}.example` },
      { scopes: 'openid "' },
      { defaultRoleId: "admin" },
      { entityId: "x".repeat(501) },
      { status: "active" },
      { configVersion: 7 },
    ]) {
      expect([body, await codeOf(create(body))]).toEqual([body, [400, "VALIDATION_ERROR"]]);
      expect([body, await codeOf(send("PATCH", `/${id}`, body))]).toEqual([body, [400, "VALIDATION_ERROR"]]);
    }
    for (const body of [{ ownerScope: "partner" }, { orgId: acme.secondOrgId }, { preset: "workforce-idp" }])
      expect(await codeOf(send("PATCH", `/${id}`, body))).toEqual([400, "VALIDATION_ERROR"]);
    expect(await codeOf(send("PATCH", `/${id}`, {}))).toEqual([400, "NO_UPDATES"]);
    expect(await codeOf(send("POST", `/${id}/status`, { status: "on" }))).toEqual([400, "VALIDATION_ERROR"]);
    expect((await row(id)).configVersion).toBe(1);
  });

  it("reads domains without regard to case, space and order of writing", async () => {
    const { allowedDomains } = await provider({ allowedDomains: " Acme.Example, @sub.acme.example ,acme.example," });
    expect(allowedDomains).toBe("acme.example,sub.acme.example");
    expect((await provider({ allowedDomains: " " })).allowedDomains).toBeNull();
  });

  it("keeps the client secret sealed for its provider, and never says it", async () => {
    const made = await provider({ clientSecret: "planted-secret-1" });
    const { vault } = server.services;
    expect(made.hasClientSecret).toBe(true);
    expect(openClientSecret(vault, await row(made.id))).toBe("planted-secret-1");
    const changed = await send("PATCH", `/${made.id}`, { clientSecret: "planted-secret-2", clientId: "new" });
    expect(changed.body).toMatchObject({ hasClientSecret: true, clientId: "new", configVersion: 2 });
    const stored = await row(made.id);
    expect(openClientSecret(vault, stored)).toBe("planted-secret-2");
    expect(() => openClientSecret(vault, { ...stored, id: acme.ssoProviderId })).toThrow();
    const lists = [await send("GET", `/${made.id}`), await send("GET", `?orgId=${acme.orgId}`)];
    const told = JSON.stringify([
      made,
      changed.body,
      lists.map(({ body }) => body),
      stored,
      await auditEntries(server),
    ]);
    expect(told).not.toMatch(/planted-secret/);
    const cleared = await send("PATCH", `/${made.id}`, { clientSecret: null });
    expect(cleared.body).toMatchObject({ hasClientSecret: false });
    expect(openClientSecret(vault, await row(made.id))).toBeNull();
  });

  it("can be active only with all that a sign-in needs, and stays so while it is", async () => {
    const { id } = await provider();
    const setStatus = (status: string) => send("POST", `/${id}/status`, { status });
    const refused = await setStatus("active");
    expect([refused.status, refused.body.code]).toEqual([400, "PROVIDER_INCOMPLETE"]);
    expect(refused.body.details.missing).toEqual([
      "issuer",
      "clientId",
      "clientSecret",
      "authorizationUrl",
      "tokenUrl",
      "jwksUrl",
    ]);
    expect((await setStatus("testing")).body).toMatchObject({ status: "testing", configVersion: 2 });
    const { issuer, ...others } = complete;
    await send("PATCH", `/${id}`, others);
    expect((await setStatus("active")).body.details.missing).toEqual(["issuer"]);
    await server.db.updateTable("ssoProviders").set({ issuer }).where("id", "=", id).execute();
    for (const [at, status] of ["active", "testing", "inactive", "active", "inactive", "testing", "active"].entries())
      expect((await setStatus(status)).body).toMatchObject({ status, configVersion: 4 + at });
    for (const field of ["clientId", "clientSecret", "authorizationUrl", "tokenUrl", "jwksUrl"])
      expect(await codeOf(send("PATCH", `/${id}`, { [field]: null }))).toEqual([400, "PROVIDER_INCOMPLETE"]);
    expect(await codeOf(send("PATCH", `/${id}`, { issuer: null }))).toEqual([400, "OIDC_ISSUER_REQUIRED"]);
    expect(await codeOf(send("PATCH", `/${id}`, { type: "saml" }))).toEqual([400, "PROVIDER_INCOMPLETE"]);
    expect(await row(id)).toMatchObject({ status: "active", configVersion: 10, clientId: "rmm" });
    await send("DELETE", `/${id}`);
  });

  it("keeps SAML as a record only: it can be active, but cannot enforce, which would lock everyone out", async () => {
    const saml = { type: "saml", entityId: "urn:acme", ssoUrl: "https://fs.acme.example/adfs/ls/", certificate: "MII" };
    const { id } = await provider(saml);
    expect((await send("POST", `/${id}/status`, { status: "active" })).body).toMatchObject({
      ...saml,
      status: "active",
    });
    expect(await codeOf(send("PATCH", `/${id}`, { certificate: null }))).toEqual([400, "PROVIDER_INCOMPLETE"]);
    expect(await codeOf(send("PATCH", `/${id}`, { enforceSSO: true }))).toEqual([400, "VALIDATION_ERROR"]);
    expect(await codeOf(create({ ...saml, enforceSSO: true }))).toEqual([400, "VALIDATION_ERROR"]);
    await send("DELETE", `/${id}`);
  });

  it("counts every change as a new configuration, and loses none of two at once", async () => {
    const { id } = await provider();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => send("PATCH", `/${id}`, { name: `name ${at}` })),
    );
    const saved = answers.filter((answer) => answer.status === 200);
    expect(saved.length).toBeGreaterThan(0);
    for (const answer of answers) expect([200, 409], JSON.stringify(answer.body)).toContain(answer.status);
    for (const { body } of answers.filter((answer) => answer.status === 409))
      expect(body.code).toBe("CONCURRENT_MODIFICATION");
    const stored = await row(id);
    expect(stored.configVersion).toBe(1 + saved.length);
    expect(saved.map((answer) => answer.body.configVersion).sort()).toEqual(saved.map((_, at) => at + 2));
  });

  describe("the default role", () => {
    const orgWriter = ["organizations:read", "organizations:write"];
    const writer = () => server.signIn({ role: "x", orgId: acme.orgId, permissions: orgWriter });

    it("is one of the owner's own kind and tenant", async () => {
      const { id } = await provider({ defaultRoleId: builtInRoleId("Org Viewer") });
      const foreign = await server.signIn({ role: "x", orgId: other.orgId, permissions: ["devices:read"] });
      const sibling = await server.signIn({ role: "x", orgId: acme.secondOrgId, permissions: ["devices:read"] });
      const roleOf = async ({ userId }: SignedInUser) =>
        (await server.db.selectFrom("organizationUsers").select("roleId").where("userId", "=", userId).execute())[0]
          ?.roleId;
      for (const defaultRoleId of [
        builtInRoleId("Partner Admin"),
        builtInRoleId("System Admin"),
        server.services.random.uuid(),
        await roleOf(foreign),
        await roleOf(sibling),
      ]) {
        expect(await codeOf(create({ defaultRoleId }))).toEqual([400, "INVALID_DEFAULT_ROLE"]);
        expect(await codeOf(send("PATCH", `/${id}`, { defaultRoleId }))).toEqual([400, "INVALID_DEFAULT_ROLE"]);
      }
      const own = { ownerScope: "partner", defaultRoleId: builtInRoleId("Partner Viewer") };
      expect(await provider(own)).toMatchObject({ defaultRoleId: own.defaultRoleId, orgId: null });
      const wrong = { ...own, defaultRoleId: builtInRoleId("Org Viewer") };
      expect(await codeOf(create(wrong))).toEqual([400, "INVALID_DEFAULT_ROLE"]);
    });

    it("grants at most what its configurer holds", async () => {
      const { token } = await writer();
      const { id } = await provider({}, token);
      const defaultRoleId = builtInRoleId("Org Admin");
      expect(await codeOf(create({ defaultRoleId }, token))).toEqual([403, "ROLE_EXCEEDS_CALLER"]);
      expect(await codeOf(send("PATCH", `/${id}`, { defaultRoleId }, token))).toEqual([403, "ROLE_EXCEEDS_CALLER"]);
      expect(await row(id)).toMatchObject({ defaultRoleId: null, configVersion: 1 });
    });

    it("records who saved it last, also if it stays the same, and no one when it is cleared", async () => {
      const defaultRoleId = builtInRoleId("Org Viewer");
      const { id, ...made } = await provider({ defaultRoleId });
      expect(made.defaultRoleConfiguredBy).toBe(admin.userId);
      const second = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
      const renamed = await send("PATCH", `/${id}`, { name: "renamed" }, second.token);
      expect(renamed.body.defaultRoleConfiguredBy).toBe(admin.userId);
      const saved = await send("PATCH", `/${id}`, { defaultRoleId }, second.token);
      expect(saved.body).toMatchObject({ defaultRoleId, defaultRoleConfiguredBy: second.userId });
      const cleared = await send("PATCH", `/${id}`, { defaultRoleId: null });
      expect(cleared.body).toMatchObject({ defaultRoleId: null, defaultRoleConfiguredBy: null });
    });
  });

  it("belongs to one organization or to the partner, and each is listed for itself, oldest first", async () => {
    const own = await provider({ ownerScope: "partner", orgId: acme.orgId, autoProvision: true });
    expect(own).toMatchObject({ ownerScope: "partner", orgId: null, partnerId: acme.partnerId, autoProvision: false });
    const changed = await send("PATCH", `/${own.id}`, { autoProvision: true });
    expect(changed.body.autoProvision).toBe(false);
    server.clock.advance(1_000);
    const second = await provider({ orgId: acme.secondOrgId });
    const ids = async (query: string, token?: string) =>
      (await send("GET", query, undefined, token)).body.data.map((one: { id: string }) => one.id);
    expect(await ids("?scope=partner")).toContain(own.id);
    expect(await ids("?scope=partner")).not.toContain(second.id);
    expect(await ids("")).toContain(second.id);
    expect(await ids("")).not.toContain(own.id);
    expect(await ids(`?orgId=${acme.secondOrgId}`)).toEqual([second.id]);
    const listed = (await send("GET", `?orgId=${acme.orgId}`)).body.data;
    expect(listed[0].id).toBe(acme.ssoProviderId);
    const viewer = await server.signIn({ role: "Org Viewer", orgId: acme.secondOrgId, mfa: false });
    expect(await ids("", viewer.token)).toEqual([second.id]);
    expect((await send("GET", `/${second.id}`, undefined, viewer.token)).status).toBe(200);
    for (const id of [own.id, acme.ssoProviderId, other.ssoProviderId])
      expect(await codeOf(send("GET", `/${id}`, undefined, viewer.token))).toEqual([404, "NOT_FOUND"]);
    expect(await codeOf(send("GET", "?scope=partner", undefined, viewer.token))).toEqual([
      400,
      "PARTNER_SCOPE_REQUIRED",
    ]);
    expect(await codeOf(send("GET", `?orgId=${acme.orgId}`, undefined, viewer.token))).toEqual([
      403,
      "ORG_ACCESS_DENIED",
    ]);
  });

  it("of a partner takes a partner session with full access", async () => {
    const own = await provider({ ownerScope: "partner" });
    const partial = await server.signIn({
      role: "Partner Admin",
      partnerId: acme.partnerId,
      orgAccess: "selected",
      orgIds: [acme.orgId],
    });
    expect((await send("GET", `/${own.id}`, undefined, partial.token)).status).toBe(200);
    for (const attempt of [
      create({ ownerScope: "partner" }, partial.token),
      send("PATCH", `/${own.id}`, { name: "x" }, partial.token),
      send("POST", `/${own.id}/status`, { status: "testing" }, partial.token),
      send("POST", `/${own.id}/test`, undefined, partial.token),
      send("DELETE", `/${own.id}`, undefined, partial.token),
    ])
      expect(await codeOf(attempt)).toEqual([403, "FULL_PARTNER_ACCESS_REQUIRED"]);
    expect((await create({}, partial.token)).status).toBe(201);
    const system = await server.signIn({ role: "System Admin" });
    const member = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    for (const { token } of [system, member])
      expect(await codeOf(create({ ownerScope: "partner" }, token))).toEqual([400, "PARTNER_SCOPE_REQUIRED"]);
    expect(await codeOf(create({ orgId: undefined }, system.token))).toEqual([400, "ORG_ID_REQUIRED"]);
    expect((await send("PATCH", `/${own.id}`, { name: "by the system" }, system.token)).status).toBe(200);
    for (const path of [`/${own.id}`, `/${other.ssoProviderId}`])
      expect(await codeOf(send("PATCH", path, { name: "x" }, member.token))).toEqual([404, "NOT_FOUND"]);
  });

  it("is not for callers confined to sites, nor for an organization being closed", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
    const { id } = await provider({ orgId: acme.secondOrgId });
    const attempts = (providerId: string, orgId: string, token?: string) => [
      create({ orgId }, token),
      send("PATCH", `/${providerId}`, { name: "x" }, token),
      send("POST", `/${providerId}/status`, { status: "testing" }, token),
      send("POST", `/${providerId}/test`, undefined, token),
      send("DELETE", `/${providerId}`, undefined, token),
    ];
    for (const attempt of attempts(acme.ssoProviderId, acme.orgId, confined.token))
      expect(await codeOf(attempt)).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect((await send("GET", `/${acme.ssoProviderId}`, undefined, confined.token)).status).toBe(200);
    const close = (status: "archived" | "active") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", acme.secondOrgId).execute();
    await close("archived");
    for (const attempt of attempts(id, acme.secondOrgId)) expect(await codeOf(attempt)).toEqual([409, "ORG_READ_ONLY"]);
    await close("active");
  });

  it("goes with its links and sign-ins under way", async () => {
    const { id } = await provider();
    const now = server.clock.now();
    const plain = { providerId: id, createdAt: now };
    await server.db
      .insertInto("ssoLoginSessions")
      .values({
        ...plain,
        id: server.services.random.uuid(),
        stateHash: id,
        configVersion: 1,
        nonce: "n",
        codeVerifierSealed: "v",
        redirectPath: "/",
        exchangeChallenge: null,
        linkUserId: null,
        linkSessionId: null,
        linkAuthEpoch: null,
        ipAddress: null,
        userAgent: null,
        expiresAt: now,
      })
      .execute();
    await server.db
      .insertInto("ssoIdentities")
      .values({
        ...plain,
        id: server.services.random.uuid(),
        userId: acme.memberId,
        externalId: "s",
        email: "member@acme.example",
        profile: { groups: ["a"] },
        accessTokenSealed: null,
        refreshTokenSealed: null,
        tokenExpiresAt: null,
        lastLoginAt: now,
        updatedAt: now,
      })
      .execute();
    expect((await send("DELETE", `/${id}`)).body).toEqual({ success: true });
    expect(await codeOf(send("DELETE", `/${id}`))).toEqual([404, "NOT_FOUND"]);
    for (const table of ["ssoLoginSessions", "ssoIdentities"] as const)
      expect(await server.db.selectFrom(table).select("id").where("providerId", "=", id).execute()).toEqual([]);
  });

  it("signs people in through the oldest active one", async () => {
    const owner = { orgId: acme.orgId };
    expect((await findActiveProvider(server.db, owner))?.id).toBe(acme.ssoProviderId);
    server.clock.advance(1_000);
    const younger = await provider(complete);
    await send("POST", `/${younger.id}/status`, { status: "active" });
    expect((await findActiveProvider(server.db, owner))?.id).toBe(acme.ssoProviderId);
    await send("POST", `/${acme.ssoProviderId}/status`, { status: "testing" });
    expect((await findActiveProvider(server.db, owner))?.id).toBe(younger.id);
  });

  it("signs people in through a provider that enforces behind an older active SAML provider", async () => {
    const orgId = acme.secondOrgId;
    const saml = { orgId, type: "saml", entityId: "urn:a", ssoUrl: "https://fs.acme.example/", certificate: "MII" };
    const older = await provider(saml);
    await send("POST", `/${older.id}/status`, { status: "active" });
    expect((await findActiveProvider(server.db, { orgId }))?.id).toBe(older.id);
    server.clock.advance(1_000);
    const younger = await provider({ ...complete, orgId });
    await send("POST", `/${younger.id}/status`, { status: "active" });
    expect((await findActiveProvider(server.db, { orgId }))?.id).toBe(older.id);
    await send("PATCH", `/${younger.id}`, { enforceSSO: true });
    expect((await server.request("GET", `/sso/check/${orgId}`)).body).toMatchObject({
      ssoEnabled: true,
      provider: { id: younger.id, type: "oidc" },
      enforceSSO: true,
    });
    await send("DELETE", `/${older.id}`);
    await send("DELETE", `/${younger.id}`);
  });

  it("forgets the client secret when it would go elsewhere, unless it is entered again", async () => {
    const made = async () => {
      const one = await provider({ ...complete, issuer: undefined });
      await server.db.updateTable("ssoProviders").set({ issuer: complete.issuer }).where("id", "=", one.id).execute();
      return one.id as string;
    };
    const elsewhere = { tokenUrl: "https://9.9.9.9/token" };
    const secretOf = async (id: string) => openClientSecret(server.services.vault, await row(id));
    const inactive = await made();
    for (const masked of [{}, { clientSecret: "********" }]) {
      await send("PATCH", `/${inactive}`, { tokenUrl: complete.tokenUrl, clientSecret: "planted-secret-7" });
      const changed = await send("PATCH", `/${inactive}`, { ...elsewhere, ...masked });
      expect(changed.body).toMatchObject({ hasClientSecret: false, ...elsewhere });
      expect(await secretOf(inactive)).toBeNull();
    }
    expect((await auditEntries(server, "sso.provider.update")).at(-1)?.details).toMatchObject({
      changedFields: ["tokenUrl", "hasClientSecret"],
    });
    const again = await send("PATCH", `/${inactive}`, { tokenUrl: null, clientSecret: "planted-secret-8" });
    expect(again.body.hasClientSecret).toBe(true);
    expect((await send("PATCH", `/${inactive}`, elsewhere)).body.hasClientSecret).toBe(false);
    const active = await made();
    await send("POST", `/${active}/status`, { status: "active" });
    const refused = await send("PATCH", `/${active}`, elsewhere);
    expect([refused.body.code, refused.body.details?.missing]).toEqual(["PROVIDER_INCOMPLETE", ["clientSecret"]]);
    expect(await row(active)).toMatchObject({ tokenUrl: complete.tokenUrl, configVersion: 2 });
    const entered = await send("PATCH", `/${active}`, { ...elsewhere, clientSecret: "planted-secret-9" });
    expect(entered.body).toMatchObject({ hasClientSecret: true, ...elsewhere });
    expect(
      (await send("PATCH", `/${active}`, { authorizationUrl: "https://9.9.9.9/a", name: "n" })).body,
    ).toMatchObject({
      hasClientSecret: true,
    });
    expect(await secretOf(active)).toBe("planted-secret-9");
    await send("DELETE", `/${active}`);
    await send("DELETE", `/${inactive}`);
  });

  it("stays active without keys for ID tokens only where none is asked for", async () => {
    const { id } = await provider({ ...complete, jwksUrl: null, scopes: "profile email" });
    const setStatus = () => send("POST", `/${id}/status`, { status: "active" });
    expect((await setStatus()).body.details.missing).toEqual(["userInfoUrl"]);
    await send("PATCH", `/${id}`, { userInfoUrl: "https://8.8.8.8/me" });
    expect((await setStatus()).body.status).toBe("active");
    const openId = await send("PATCH", `/${id}`, { scopes: "openid email" });
    expect([openId.body.code, openId.body.details.missing]).toEqual(["PROVIDER_INCOMPLETE", ["jwksUrl"]]);
    await send("DELETE", `/${id}`);
  });

  it("is recorded with the names of what changed", async () => {
    const { id } = await provider({ clientSecret: "planted-secret-3" });
    await send("PATCH", `/${id}`, {
      name: "new",
      clientSecret: "planted-secret-4",
      scopes: "openid",
      enforceSSO: true,
    });
    await send("POST", `/${id}/status`, { status: "testing" });
    await send("POST", `/${id}/test`);
    await send("DELETE", `/${id}`);
    const entries = (await auditEntries(server)).filter((entry) => entry.resourceId === id);
    const about = (details: object) => expect.objectContaining(details);
    expect(entries.map(({ action, result, details, orgId }) => [action, result, details, orgId])).toEqual([
      ["sso.provider.create", "success", about({ type: "oidc", status: "inactive" }), acme.orgId],
      [
        "sso.provider.update",
        "success",
        about({ changedFields: ["name", "scopes", "enforceSSO", "clientSecret"] }),
        acme.orgId,
      ],
      ["sso.provider.status.update", "success", about({ fromStatus: "inactive", toStatus: "testing" }), acme.orgId],
      ["sso.provider.test", "failure", about({ reason: "the provider has no issuer" }), acme.orgId],
      ["sso.provider.delete", "success", about({ type: "oidc", status: "testing" }), acme.orgId],
    ]);
    expect(JSON.stringify(entries)).not.toContain("planted-secret");
  });
});
