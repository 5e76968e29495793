import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "#sdk/client";
import { MINUTE } from "#server/platform/clock";
import { databases, seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

describe.each(databases)("what a login page may know of single sign-on, on %s", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgId: string;
  let otherOrgId: string;
  let address = 0;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    partnerId = seeded.partnerId;
    [orgId, otherOrgId] = seeded.orgIds as [string, string];
    await sso.seedProvider({ orgId }, { name: "Harbor directory", enforceSso: true });
  });
  afterAll(() => sso?.stop());

  const prove = async (org: string, domain: string, verified = true) => {
    const now = sso.server.clock.now();
    const row = {
      orgId: org,
      domain,
      verificationToken: "a".repeat(48),
      lastCheckedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await sso.server.db
      .insertInto("ssoDomains")
      .values({ ...row, id: sso.server.services.random.uuid(), verifiedAt: verified ? now : null, createdBy: null })
      .execute();
  };
  const discover = (email: string, from?: string) => {
    address += 1;
    const headers = { "x-forwarded-for": from ?? `203.0.113.${address}` };
    return sso.server.request("POST", "/auth/sso-discovery", { body: { email }, headers });
  };
  const found = async (email: string) => (await discover(email)).body.sso;
  const context = async () => (await sso.server.request("GET", "/auth/login-context")).body;
  const later = () => sso.server.clock.advance(MINUTE);

  it("discovers by the domain alone: real and invented addresses get one answer (cases C22)", async () => {
    await prove(orgId, "harbor.example");
    await sso.server.signIn({ role: "Org Admin", orgId, email: "real@harbor.example" });
    const wanted = { providerName: "Harbor directory", loginUrl: `/api/v1/sso/login/${orgId}`, enforceSSO: true };
    for (const email of ["real@harbor.example", "invented@harbor.example", "Invented@HARBOR.example"])
      expect(await found(email)).toEqual(wanted);
    expect(await found("real@sub.harbor.example")).toBeNull();
    expect(await found("real@notharbor.example")).toBeNull();
  });

  it("discovers nothing if the domain is not proven, two organizations have proven it, or the provider signs no one in", async () => {
    await prove(orgId, "claimed.example", false);
    await prove(orgId, "shared.example");
    await prove(otherOrgId, "shared.example");
    await prove(otherOrgId, "island.example");
    for (const domain of ["claimed.example", "shared.example", "island.example", "unknown.example"])
      expect(await found(`pat@${domain}`), domain).toBeNull();
    const saml = await sso.seedProvider({ orgId: otherOrgId }, { type: "saml", createdAt: "2020-01-01T00:00:00.000Z" });
    const oidc = await sso.seedProvider({ orgId: otherOrgId }, { name: "Newer" });
    expect(await found("pat@island.example")).toBeNull();
    await sso.reconfigure(saml.id, { status: "inactive" });
    expect(await found("pat@island.example")).toMatchObject({ providerName: "Newer", enforceSSO: false });
    await sso.reconfigure(oidc.id, { status: "testing" });
    expect(await found("pat@island.example")).toBeNull();
  });

  it("writes an international domain one way", async () => {
    await prove(orgId, "xn--mnchen-3ya.example");
    expect(await found("pat@münchen.example")).toMatchObject({ providerName: "Harbor directory" });
  });

  it("discovers twenty times a minute per client", async () => {
    for (let i = 0; i < 20; i += 1) expect((await discover("a@b.example", "198.51.100.7")).status).toBe(200);
    const refused = await discover("a@b.example", "198.51.100.7");
    expect([refused.status, refused.body.code]).toEqual([429, "RATE_LIMITED"]);
    expect((await discover("a@b.example", "198.51.100.8")).status).toBe(200);
  });

  it("shows branding and button of the only partner, at most a minute old", async () => {
    expect(await context()).toEqual({ branding: null, partnerSso: null });
    const older = await sso.seedProvider({ partnerId }, { name: "Staff", createdAt: "2020-01-01T00:00:00.000Z" });
    await sso.seedProvider({ partnerId }, { name: "Newer" });
    const now = sso.server.clock.now();
    await sso.server.db
      .insertInto("partnerLoginBranding")
      .values({
        partnerId,
        logoUrl: null,
        accentColor: "#0a84ff",
        headline: "Hello",
        updatedBy: null,
        createdAt: now,
        updatedAt: now,
      })
      .execute();
    expect(await context()).toEqual({ branding: null, partnerSso: null });
    later();
    const shown = {
      branding: { logoUrl: null, accentColor: "#0a84ff", headline: "Hello" },
      partnerSso: { providerName: "Staff", loginUrl: `/api/v1/sso/login/partner/${partnerId}`, enforceSSO: false },
    };
    expect(await context()).toEqual(shown);
    await sso.reconfigure(older.id, { status: "inactive" });
    later();
    expect((await context()).partnerSso.providerName).toBe("Newer");
    await seedPartner(sso.server, "second");
    later();
    expect(await context()).toEqual({ branding: null, partnerSso: null });
  });

  it("signs in a partner's technicians and creates no account, whatever the provider's settings", async () => {
    const staff = await sso.server.signIn({ role: "Partner Technician", partnerId, email: "tech@acme.example" });
    await sso.seedProvider(
      { partnerId },
      { name: "First", autoProvision: true, createdAt: "2019-01-01T00:00:00.000Z" },
    );
    const login = `/sso/login/partner/${partnerId}`;
    // An organization's proven domains say nothing of a partner: the invitation does.
    sso.idp.person = { subject: "tech", email: "Tech@acme.example" };
    const { accessToken } = await sso.browser().tokens(login);
    const claims = JSON.parse(Buffer.from(accessToken.split(".")[1], "base64url").toString("utf8"));
    expect(claims).toMatchObject({ sub: staff.userId, scope: "partner", partnerId, orgId: null });
    sso.idp.person = { subject: "stranger", email: "stranger@acme.example", emailVerified: true };
    expect(await sso.browser().signIn(login)).toBe("/login?error=invite_required");
    const member = await sso.server.signIn({ role: "Org Admin", orgId });
    sso.idp.person = { subject: "member", email: member.email, emailVerified: true };
    expect(await sso.browser().signIn(login)).toBe("/login?error=no_partner_access");
  });

  it("is reached by the SDK, which hands the address on and follows none", async () => {
    const rmm = createClient({ baseUrl: sso.server.url, validate: "strict" });
    const { data, response } = await rmm.ssoLogins
      .start({ params: { orgId }, query: { redirect: "/" } })
      .withResponse();
    expect(data.location).toMatch(new RegExp(`^${sso.idp.issuer}/auth\\?`));
    expect([response.status, response.headers.get("set-cookie")]).toEqual([
      302,
      expect.stringMatching(/^svc_sso_state=/),
    ]);
    expect(await rmm.ssoLogins.callback({ query: {} })).toEqual({ location: "/login?error=invalid_callback" });
    await expect(rmm.ssoLogins.start({ params: { orgId: partnerId } })).rejects.toMatchObject({
      code: "NO_ACTIVE_SSO_PROVIDER",
    });
  });
});

describe("on a hosted server", () => {
  it("shows neither branding nor button", async () => {
    const sso = await startSsoTest("postgres", { IS_HOSTED: "true" });
    const { partnerId } = await seedPartner(sso.server, "acme");
    await sso.seedProvider({ partnerId });
    const { body } = await sso.server.request("GET", "/auth/login-context");
    expect(body).toEqual({ branding: null, partnerSso: null });
    await sso.stop();
  });
});

describe("behind a public address", () => {
  it("sends the provider back to it, and keeps the cookie off plain connections", async () => {
    const sso = await startSsoTest("sqlite", { PUBLIC_URL: "https://rmm.example" });
    const orgId = (await seedPartner(sso.server, "acme", ["harbor"])).orgIds[0] as string;
    await sso.seedProvider({ orgId });
    const { headers } = await sso.server.request("GET", `/sso/login/${orgId}`, { headers: { host: "evil.example" } });
    const to = new URL(headers.get("location") as string);
    expect(to.searchParams.get("redirect_uri")).toBe("https://rmm.example/api/v1/sso/callback");
    expect(headers.getSetCookie()[0]).toMatch(/; Secure$/);
    await sso.stop();
  });

  it("starts nothing where the address is whatever a request says", async () => {
    const sso = await startSsoTest("sqlite");
    const orgId = (await seedPartner(sso.server, "acme", ["harbor"])).orgIds[0] as string;
    await sso.seedProvider({ orgId });
    const { hostname, port } = new URL(sso.server.url);
    const { request } = await import("node:http");
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve) => {
      const options = { hostname, port, path: `/api/v1/sso/login/${orgId}`, headers: { host: "evil.example" } };
      request(options, (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      }).end();
    });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "NOT_CONFIGURED", details: { setting: "PUBLIC_URL" } });
    await sso.stop();
  });
});
