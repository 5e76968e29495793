import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Announcement } from "#fixtures/simulators/announced";
import type { Person } from "#fixtures/simulators/identity-provider";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

/** Field case C56: what a provider announces is used, and what cannot work is said with its reason. */
describe.each(databases)("what an identity provider announces on %s (cases C56)", (database) => {
  let sso: SsoTest;
  let orgId: string;
  let login: string;
  let admin: SignedInUser;
  let made = 0;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["harbor"]);
    orgId = seeded.orgIds[0] as string;
    login = `/sso/login/${orgId}`;
    admin = await sso.server.signIn({ role: "Partner Admin", partnerId: seeded.partnerId });
  });
  afterAll(() => sso?.stop());
  afterEach(async () => {
    sso.idp.announcement = {};
    sso.idp.faults = {};
    for (const { id } of await sso.server.db.selectFrom("ssoProviders").select("id").execute()) {
      const gone = await send("DELETE", `/${id}`);
      expect(gone.status).toBe(200);
    }
  });

  const send = (method: string, path: string, body?: object) =>
    sso.server.request(method, `/sso/providers${path}`, { token: admin.token, ...(body ? { body } : {}) });
  /** A provider as an administrator makes it, and a member whom it knows. */
  async function providerThat(announcement: Announcement, person: Partial<Person> = {}): Promise<string> {
    sso.idp.announcement = announcement;
    const created = await send("POST", "", {
      orgId,
      name: "Directory",
      type: "oidc",
      issuer: sso.idp.issuer,
      clientId: sso.idp.client.id,
      clientSecret: sso.idp.client.secret,
      autoProvision: false,
    });
    expect([created.status, created.body.discoveryError], JSON.stringify(created.body)).toEqual([201, undefined]);
    expect((await send("POST", `/${created.body.id}/status`, { status: "active" })).status).toBe(200);
    made += 1;
    const email = `pat.${made}@harbor.example`;
    await sso.server.signIn({ role: "Org Viewer", orgId, email, mfa: false });
    sso.idp.person = { subject: `sub-${made}`, email, emailVerified: true, name: "Pat", ...person };
    return created.body.id;
  }
  const test = async (id: string) => {
    const { status, body } = await send("POST", `/${id}/test`);
    const entry = (await auditEntries(sso.server, "sso.provider.test")).at(-1);
    expect(entry?.result).toBe(status === 200 ? "success" : "failure");
    if (status !== 200)
      expect([body.code, body.success, entry?.details]).toMatchObject(["OIDC_DISCOVERY_FAILED", false, body.details]);
    return status === 200 ? body.signIn.tokenAuthMethod : body.details.reason;
  };
  const lastReason = async () => (await auditEntries(sso.server, "sso.callback.rejected")).at(-1);

  it.each<[string, Announcement, string]>([
    ["basic alone", { tokenAuthMethods: ["client_secret_basic"] }, "client_secret_basic"],
    ["the body alone", { tokenAuthMethods: ["client_secret_post"] }, "client_secret_post"],
    ["both", { tokenAuthMethods: ["client_secret_post", "client_secret_basic"] }, "client_secret_basic"],
    ["no method", { tokenAuthMethods: null }, "client_secret_basic"],
    ["no PKCE method", { pkceMethods: null }, "client_secret_basic"],
    ["ES256 alone", { idTokenAlgorithms: ["ES256"] }, "client_secret_basic"],
    ["UserInfo as a signed token", { userInfo: "jwt" }, "client_secret_basic"],
  ])("is used: %s", async (_, announcement, method) => {
    const id = await providerThat(announcement);
    expect(await test(id)).toBe(method);
    expect((await sso.browser().tokens(login)).accessToken).toEqual(expect.any(String));
  });

  it.each<[string, Announcement, string]>([
    ["private_key_jwt alone", { tokenAuthMethods: ["private_key_jwt"] }, "token_auth_method_unsupported"],
    ["shared-secret signatures alone", { idTokenAlgorithms: ["HS256", "none"] }, "id_token_algorithm_unsupported"],
    ["plain challenges alone", { pkceMethods: ["plain"] }, "pkce_s256_unsupported"],
  ])("cannot work, and is said at once: %s", async (_, announcement, reason) => {
    const id = await providerThat(announcement);
    expect(await test(id)).toBe(reason);
    const started = await sso.server.request("GET", login, { headers: { "x-forwarded-for": `192.0.2.${made}` } });
    expect([started.status, started.body.code, started.body.details]).toEqual([400, "PROVIDER_INVALID", { reason }]);
    expect(await lastReason()).toMatchObject({
      orgId,
      result: "denied",
      resourceId: id,
      details: { phase: "provider", reason },
    });
    expect(await sso.server.db.selectFrom("ssoLoginSessions").select("id").execute()).toEqual([]);
  });

  it("is read again by the test, and used from then on", async () => {
    const id = await providerThat({ tokenAuthMethods: ["client_secret_post"] });
    sso.idp.announcement = { tokenAuthMethods: ["client_secret_basic"] };
    expect(await sso.browser().signIn(login)).toBe("/login?error=sso_error");
    expect((await lastReason())?.details).toMatchObject({ phase: "token", reason: expect.stringMatching(/./) });
    expect((await lastReason())?.details).not.toMatchObject({ reason: "sso_error" });
    expect(await test(id)).toBe("client_secret_basic");
    expect((await sso.browser().tokens(login)).accessToken).toEqual(expect.any(String));
  });

  it("does not hide a wrong secret: the test presents it as a sign-in would", async () => {
    const id = await providerThat({});
    expect((await send("PATCH", `/${id}`, { clientSecret: "not-the-secret" })).status).toBe(200);
    expect(await test(id)).toBe("token.invalid_client");
    await send("PATCH", `/${id}`, { clientSecret: sso.idp.client.secret });
    expect(await test(id)).toBe("client_secret_basic");
    await send("PATCH", `/${id}`, { jwksUrl: `${sso.idp.issuer}/nowhere` });
    expect(await test(id)).toBe("keys_unreadable");
  });

  it("says with which status UserInfo refused", async () => {
    const id = await providerThat({ userInfo: "401" });
    expect(await test(id)).toBe("client_secret_basic");
    expect(await sso.browser().signIn(login)).toBe("/login?error=sso_error");
    expect((await lastReason())?.details).toMatchObject({ phase: "profile", reason: "userinfo.answered_401" });
  });

  it("takes an address from a list of one, with the text 'true' as verified", async () => {
    await providerThat({}, { emailVerified: "true" });
    const { email } = sso.idp.person as Person;
    sso.idp.person = { ...(sso.idp.person as Person), more: { email: [email] } };
    expect((await sso.browser().tokens(login)).accessToken).toEqual(expect.any(String));
  });

  it("refuses an address from a list of several, and says so", async () => {
    await providerThat({});
    const { email } = sso.idp.person as Person;
    sso.idp.person = { ...(sso.idp.person as Person), more: { email: [email, "other@harbor.example"] } };
    expect(await sso.browser().signIn(login)).toBe("/login?error=sso_error");
    expect((await lastReason())?.details).toMatchObject({ phase: "profile", reason: "email_several" });
  });
});
