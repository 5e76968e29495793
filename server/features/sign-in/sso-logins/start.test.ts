import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { databases, seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";
import { startPerAddressAndTarget } from "./rules.ts";

describe.each(databases)("starting a sign-in on %s", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgId: string;
  let login: string;
  let provider: ProviderRow;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    login = `/sso/login/${orgId}`;
    provider = await sso.seedProvider({ orgId });
  });
  afterAll(() => sso?.stop());

  const member = async (subject: string) => {
    const email = `${subject}@harbor.example`;
    await sso.server.signIn({ role: "Org Admin", orgId, email, mfa: false });
    sso.idp.person = { subject, email, emailVerified: true };
  };

  it("ends only on paths of this server", async () => {
    await member("pat");
    for (const outside of [
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "/%09/evil",
      "javascript:alert(1)",
      "devices",
      "/a\\b",
    ]) {
      const location = await sso.browser().signIn(`${login}?redirect=${encodeURIComponent(outside)}`);
      expect(location, outside).toMatch(/^\/(%09\/evil)?#ssoCode=/);
    }
    expect(await sso.browser().signIn(`${login}?redirect=/a&redirect=/b`)).toMatch(/^\/#ssoCode=/);
    expect(await sso.browser().signIn(`${login}?redirect=${encodeURIComponent("/a#x")}`)).toMatch(/^\/a#ssoCode=/);
  });

  it("takes no code to the identity provider of another tenant: a redirect would carry the fragment there", async () => {
    await member("kim");
    const attacker = await seedPartner(sso.server, "mallory", ["reef"]);
    await sso.seedProvider({ orgId: attacker.orgIds[0] as string }, { authorizationUrl: "https://localhost:1/steal" });
    for (const target of [`/api/v1/sso/login/${attacker.orgIds[0]}`, `/%61pi/v1/sso/login/${attacker.orgIds[0]}`])
      expect(await sso.browser().signIn(`${login}?redirect=${encodeURIComponent(target)}`)).toMatch(/^\/#ssoCode=/);
  });

  it("contacts no provider of a deleted owner", async () => {
    const gone = await seedPartner(sso.server, "gone", ["wreck", "shoal"]);
    const [wreck, shoal] = gone.orgIds as [string, string];
    for (const owner of [{ orgId: wreck }, { orgId: shoal }, { partnerId: gone.partnerId }])
      await sso.seedProvider(owner);
    const deletedAt = sso.server.clock.now();
    await sso.server.db.updateTable("organizations").set({ deletedAt }).where("id", "=", wreck).execute();
    const start = async (path: string) => (await sso.server.request("GET", `/sso/login/${path}`)).status;
    expect((await sso.server.request("GET", `/sso/check/${wreck}`)).body).toEqual({ ssoEnabled: false });
    expect([await start(wreck), await start(shoal)]).toEqual([404, 302]);
    expect(await start(`partner/${gone.partnerId}`)).toBe(302);
    await sso.server.db.updateTable("partners").set({ deletedAt }).where("id", "=", gone.partnerId).execute();
    expect(await start(`partner/${gone.partnerId}`)).toBe(404);
  });

  it("answers where there is no provider, and where it cannot be used", async () => {
    const island = await sso.server.db
      .selectFrom("organizations")
      .select("id")
      .where("slug", "=", "island")
      .executeTakeFirst();
    const start = (path: string) => sso.server.request("GET", path, { headers: { "x-forwarded-for": "192.0.2.9" } });
    expect(await start(`/sso/login/${island?.id}`)).toMatchObject({
      status: 404,
      body: { code: "NO_ACTIVE_SSO_PROVIDER", error: "No active SSO provider for this organization" },
    });
    expect((await start(`/sso/login/partner/${partnerId}`)).body.code).toBe("NO_ACTIVE_SSO_PROVIDER");
    const broken = await sso.seedProvider({ orgId: island?.id as string }, { type: "saml" });
    expect((await start(`/sso/login/${island?.id}`)).body.code).toBe("PROVIDER_INVALID");
    expect((await start(`/sso/check/${island?.id}`)).body).toMatchObject({
      ssoEnabled: true,
      provider: { type: "saml" },
    });
    await sso.reconfigure(broken.id, { type: "oidc", jwksUrl: "http://idp.example/jwks" });
    expect((await start(`/sso/login/${island?.id}`)).body.code).toBe("PROVIDER_INVALID");
    await sso.reconfigure(broken.id, { jwksUrl: provider.jwksUrl, clientSecretSealed: null });
    expect((await start(`/sso/login/${island?.id}`)).body.code).toBe("PROVIDER_INVALID");
    await sso.reconfigure(broken.id, { clientSecretSealed: "sealed under another server's key" });
    expect((await start(`/sso/login/${island?.id}`)).body.code).toBe("PROVIDER_INVALID");
    await sso.reconfigure(broken.id, { status: "inactive" });
    expect((await start(`/sso/check/${island?.id}`)).body).toEqual({ ssoEnabled: false });
    expect((await start(`/sso/check/${orgId}`)).body).toEqual({
      ssoEnabled: true,
      provider: { id: provider.id, name: "Directory", type: "oidc" },
      enforceSSO: false,
      loginUrl: `/api/v1/sso/login/${orgId}`,
    });
  });

  it("limits starts per address and target, and per address", async () => {
    const start = (address: string, target: string) =>
      sso.server.request("GET", `/sso/login/${target}`, { headers: { "x-forwarded-for": address } });
    for (let i = 0; i < 10; i += 1) expect((await start("192.0.2.1", orgId)).status).toBe(302);
    const refused = await start("192.0.2.1", orgId);
    expect([refused.status, refused.body.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const anyone = () => sso.server.services.random.uuid();
    for (let i = 0; i < 20; i += 1) expect((await start("192.0.2.1", anyone())).status).toBe(404);
    expect((await start("192.0.2.1", anyone())).status).toBe(429);
    const target = anyone();
    for (let i = 0; i < 2; i += 1) expect((await start("192.0.2.1", target)).status).toBe(429);
    // What one limit refuses counts under no other.
    const subject = `192.0.2.1 ${target}`;
    expect(await sso.server.services.limiter.peek(startPerAddressAndTarget, subject)).toMatchObject({ remaining: 10 });
    expect((await start("192.0.2.2", orgId)).status).toBe(302);
  });
});
