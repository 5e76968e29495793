import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { plainMembership } from "#fixtures/nouns/people/users";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { SECOND } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";
import { purgeSsoLogins } from "./purge.ts";

describe.each(databases)("signing in through an identity provider on %s", (database) => {
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
  afterEach(() => {
    sso.idp.faults = {};
  });

  let made = 0;
  /** A member of the organization, and the same person at the provider. */
  const member = async (change: object = {}) => {
    made += 1;
    const email = `pat.${made}@harbor.example`;
    const person = await sso.server.signIn({ role: "Org Admin", orgId, email, mfa: false });
    sso.idp.person = { subject: `sub-${made}`, email, emailVerified: true, name: "Pat", ...change };
    return person;
  };
  const me = async (token: string) => (await sso.server.request("GET", "/users/me", { token })).body;
  const counts = async () => {
    const of = async (table: "users" | "sessions" | "ssoIdentities" | "ssoExchangeCodes") =>
      (
        await sso.server.db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll().as("n"))
          .executeTakeFirst()
      )?.n;
    return [await of("users"), await of("sessions"), await of("ssoIdentities"), await of("ssoExchangeCodes")].map(
      Number,
    );
  };
  const lastRejection = async () => (await auditEntries(sso.server, "sso.callback.rejected")).at(-1);

  it("goes to the provider with PKCE, nonce and a signed cookie, and comes back with a session in its organization", async () => {
    const { userId, email } = await member();
    const answer = await sso.server.request("GET", `${login}?redirect=/devices%3Fa=1`);
    expect(answer.status).toBe(302);
    const url = new URL(answer.headers.get("location") as string);
    expect(url.origin).toBe(sso.idp.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "rmm",
      redirect_uri: `${sso.server.url}/api/v1/sso/callback`,
      scope: "openid profile email",
      code_challenge_method: "S256",
    });
    expect(url.searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
    expect(url.searchParams.get("nonce")).toMatch(/^[\w-]{43}$/);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^svc_sso_state=[0-9a-f]{64}; Path=\/api\/v1\/sso\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    const browser = sso.browser();
    const location = await browser.signIn(`${login}?redirect=/devices%3Fa=1`);
    expect(location).toMatch(/^\/devices\?a=1#ssoCode=[\w-]{48}$/);
    expect(browser.cookies.has("svc_sso_state")).toBe(false);
    const code = location.slice(-48);
    const pair = await sso.server.request("POST", "/sso/exchange", { body: { code } });
    expect(Object.keys(pair.body).sort()).toEqual(["accessToken", "expiresIn", "refreshToken", "tokenType"]);
    expect(await me(pair.body.accessToken)).toMatchObject({ id: userId, email });
    const entry = (await auditEntries(sso.server, "user.login")).find((one) => one.actorId === userId);
    expect(entry).toMatchObject({ orgId, result: "success", actorEmail: email, resourceId: userId });
    expect(entry?.details).toMatchObject({ method: "sso", mfa: false, providerId: provider.id, provisioned: false });
    expect(await eventsOf(sso.server.db, userId)).toMatchObject([
      { kind: "user.login", orgId, data: { userId, method: "sso", mfa: false } },
    ]);
  });

  it("encrypts the provider's tokens: neither token nor verifier is in the database, the audit log or the answer", async () => {
    const { userId } = await member();
    await sso.browser().tokens(login);
    const link = await sso.server.db
      .selectFrom("ssoIdentities")
      .selectAll()
      .where("userId", "=", userId)
      .executeTakeFirst();
    expect(link).toMatchObject({ externalId: `sub-${made}`, lastLoginAt: sso.server.clock.now() });
    expect(link?.profile).toMatchObject({ sub: `sub-${made}`, name: "Pat" });
    expect(link?.tokenExpiresAt).toBe(new Date(sso.server.clock.nowMs() + 900 * SECOND).toISOString());
    expect([link?.accessTokenSealed, link?.refreshTokenSealed]).toEqual([expect.any(String), expect.any(String)]);
    await sso.server.settled();
    const rows = JSON.stringify([link, await sso.server.db.selectFrom("auditLogs").selectAll().execute()]);
    for (const token of sso.idp.issued) expect(rows).not.toContain(token);
  });

  it("knows a person by the subject, whatever the case of the address (cases C19)", async () => {
    const { userId, email } = await member({ email: undefined });
    const [users] = await counts();
    for (const spelled of [email.toUpperCase(), email.replace("pat", "Pat")]) {
      sso.idp.person = { subject: `sub-${made}`, email: spelled, emailVerified: true };
      expect((await me((await sso.browser().tokens(login)).accessToken)).id).toBe(userId);
    }
    const links = await sso.server.db
      .selectFrom("ssoIdentities")
      .select("email")
      .where("userId", "=", userId)
      .execute();
    expect(links).toEqual([{ email }]);
    expect((await counts())[0]).toBe(users);
  });

  it.each([
    [
      "a nonce of another sign-in",
      () => ({ idToken: (c: object) => ({ ...c, nonce: "other" }) }),
      "token",
      "oauth_jwt_claim_comparison_failed.nonce",
    ],
    ["no nonce", () => ({ idToken: (c: object) => ({ ...c, nonce: undefined }) }), "token", "oauth_invalid_response"],
    [
      "an ID token that has expired",
      () => ({ idToken: (c: object) => ({ ...c, iat: 1, exp: 61 }) }),
      "token",
      "oauth_jwt_timestamp_check_failed.exp",
    ],
    [
      "another audience",
      () => ({ idToken: (c: object) => ({ ...c, aud: "other" }) }),
      "token",
      "oauth_jwt_claim_comparison_failed.aud",
    ],
    [
      "another issuer",
      () => ({ idToken: (c: object) => ({ ...c, iss: "https://other.example" }) }),
      "token",
      "oauth_jwt_claim_comparison_failed.iss",
    ],
    ["a key that the provider does not publish", () => ({ wrongKey: true }), "token", "oauth_invalid_response"],
    ["a token endpoint that fails", () => ({ tokenStatus: 503 }), "token", "oauth_response_is_not_conform"],
    [
      "UserInfo of another subject",
      () => ({ userInfo: (c: object) => ({ ...c, sub: "other" }) }),
      "profile",
      "oauth_json_attribute_comparison_failed",
    ],
    ["no email address", () => ({ userInfo: (c: object) => ({ ...c, email: undefined }) }), "profile", "email_missing"],
  ])("refuses %s, and leaves no user, link, session or code", async (_, faults, phase, reason) => {
    const { email } = await member();
    sso.idp.faults = faults();
    const before = await counts();
    expect(await sso.browser().signIn(login)).toBe("/login?error=sso_error");
    expect(await counts()).toEqual(before);
    const entry = await lastRejection();
    expect(entry).toMatchObject({ orgId, result: "denied", details: { phase, reason } });
    expect(JSON.stringify(entry)).not.toContain(email);
  });

  it("sends no code of another provider anywhere: the issuer of the answer is compared first (RFC 9207)", async () => {
    await member();
    const browser = sso.browser();
    const callback = new URL(await browser.goToProvider(login));
    expect(callback.searchParams.get("iss")).toBe(sso.idp.issuer);
    callback.searchParams.set("iss", "https://other.example");
    const asked = sso.idp.requests.length;
    expect(await browser.goToCallback(callback.href)).toBe("/login?error=sso_error");
    expect(sso.idp.requests.slice(asked)).toEqual([]);
  });

  it("refuses a state that this browser did not start, before it takes the sign-in", async () => {
    await member();
    const browser = sso.browser();
    const callback = await browser.goToProvider(login);
    expect(await sso.browser().goToCallback(callback)).toBe("/login?error=invalid_callback");
    const other = sso.browser();
    await other.goToProvider(login);
    expect(await other.goToCallback(callback)).toBe("/login?error=invalid_callback");
    // The sign-in is still there for the browser that began it.
    expect(await browser.goToCallback(callback)).toMatch(/#ssoCode=/);
  });

  it.each(["", "?code=a", "?state=b", "?code=a&state=b", "?code=a&code=b&state=c", "?code=%00&state=b", "?error=x"])(
    "redirects whatever comes back: %j",
    async (query) => {
      const answer = await sso.server.request("GET", `/sso/callback${query}`);
      expect([answer.status, answer.body]).toEqual([302, ""]);
      expect(answer.headers.get("location")).toBe(
        query === "?error=x" ? "/login?error=sso_error" : "/login?error=invalid_callback",
      );
    },
  );

  it("takes a state once, and not after ten minutes", async () => {
    await member();
    const browser = sso.browser();
    const callback = await browser.goToProvider(login);
    const cookie = new Map(browser.cookies);
    expect(await browser.goToCallback(callback)).toMatch(/#ssoCode=/);
    for (const [name, value] of cookie) browser.cookies.set(name, value);
    expect(await browser.goToCallback(callback)).toBe("/login?error=session_expired");
    const late = await browser.goToProvider(login);
    sso.server.clock.advance(600 * SECOND);
    expect(await browser.goToCallback(late)).toBe("/login?error=session_expired");
  });

  it("takes a state once when it comes back twice at the same moment", async () => {
    await member();
    const browser = sso.browser();
    const callback = await browser.goToProvider(login);
    const locations = await Promise.all([1, 2, 3, 4].map(() => browser.goToCallback(callback)));
    expect(locations.filter((location) => location.includes("#ssoCode=")).length).toBe(1);
  });

  it("ends the sign-in when the provider says so, and records it in its owner's chain", async () => {
    await member();
    sso.idp.person = null;
    const browser = sso.browser();
    const callback = await browser.goToProvider(login);
    const cookies = new Map(browser.cookies);
    expect(await browser.goToCallback(callback)).toBe("/login?error=sso_error");
    expect(await lastRejection()).toMatchObject({ orgId, details: { phase: "return", reason: "access_denied" } });
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    const forged = `${callback.replace(/error=[^&]*&?/g, "")}&code=x`;
    expect(await browser.goToCallback(forged)).toBe("/login?error=session_expired");
  });

  it.each([
    ["switched off", { status: "inactive" }, "sso_provider_inactive"],
    ["under test", { status: "testing" }, "sso_provider_inactive"],
    ["changed", { name: "Directory" }, "sso_config_changed"],
  ] as const)("refuses a sign-in whose provider was %s on the way", async (_, change, code) => {
    await member();
    const browser = sso.browser();
    const callback = await browser.goToProvider(login);
    await sso.reconfigure(provider.id, change);
    expect(await browser.goToCallback(callback)).toBe(`/login?error=${code}`);
    await sso.reconfigure(provider.id, { status: "active" });
  });

  it("refuses a provider that was changed while its token endpoint was asked", async () => {
    await member();
    const browser = sso.browser();
    const callback = await browser.goToProvider(login);
    const outbound = sso.server.services.outbound as { fetch: typeof sso.server.services.outbound.fetch };
    const original = outbound.fetch;
    outbound.fetch = async (url, init) => {
      const answer = await original(url, init);
      if (String(url).endsWith("/me")) await sso.reconfigure(provider.id, { name: "Directory" });
      return answer;
    };
    try {
      expect(await browser.goToCallback(callback)).toBe("/login?error=sso_config_changed");
    } finally {
      outbound.fetch = original;
    }
  });

  it("refuses addresses outside of the allowed domains, and people of other organizations", async () => {
    await member({ email: "pat@elsewhere.example" });
    await sso.reconfigure(provider.id, { allowedDomains: "harbor.example, quay.example" });
    expect(await sso.browser().signIn(login)).toBe("/login?error=domain_not_allowed");
    await sso.reconfigure(provider.id, { allowedDomains: null });
    const other = await sso.server.signIn({ role: "Partner Admin", partnerId });
    sso.idp.person = { subject: "tech", email: other.email, emailVerified: true };
    const before = await counts();
    expect(await sso.browser().signIn(login)).toBe("/login?error=no_org_access");
    expect(await counts()).toEqual(before);
    expect(await lastRejection()).toMatchObject({ orgId, actorId: other.userId, actorEmail: other.email });
  });

  it("exchanges a code once, also in parallel, and not after two minutes (cases C23)", async () => {
    await member();
    const exchange = (code: string) => sso.server.request("POST", "/sso/exchange", { body: { code } });
    const before = (await counts())[1] as number;
    const code = await sso.browser().code(login);
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    const refusal = { error: "Invalid or expired token exchange code", code: "INVALID_EXCHANGE_CODE" };
    for (const { status, body } of answers.filter((one) => one.status !== 200))
      expect([status, body]).toEqual([400, refusal]);
    expect((await counts())[1]).toBe(before + 1);
    const late = await sso.browser().code(login);
    sso.server.clock.advance(121 * SECOND);
    expect([(await exchange(late)).status, (await exchange(late)).body]).toEqual([400, refusal]);
    const fresh = await sso.browser().code(login);
    expect((await exchange(fresh.slice(0, 47))).body).toEqual(refusal);
    sso.server.clock.advance(119 * SECOND);
    expect((await exchange(fresh)).status).toBe(200);
  });

  it("ends the session of a code that was never redeemed", async () => {
    const { userId, sessionId } = await member();
    await sso.browser().code(login);
    await sso.browser().goToProvider(login);
    sso.server.clock.advance(600 * SECOND);
    await purgeSsoLogins(sso.server.services);
    const sessions = await sso.server.db
      .selectFrom("sessions")
      .select(["revokedReason"])
      .where("userId", "=", userId)
      .where("id", "<>", sessionId)
      .execute();
    expect(sessions).toEqual([{ revokedReason: "sign-in not finished" }]);
    expect((await counts())[3]).toBe(0);
    expect(await sso.server.db.selectFrom("ssoLoginSessions").select("id").execute()).toEqual([]);
  });

  it("counts the provider's second factor only where it is trusted and says mfa", async () => {
    const { userId } = await member({ amr: ["pwd", "mfa"] });
    const mfaOf = async () => {
      const { accessToken } = await sso.browser().tokens(login);
      const claims = JSON.parse(Buffer.from(accessToken.split(".")[1], "base64url").toString("utf8"));
      expect(claims).toMatchObject({ sub: userId, scope: "organization", orgId });
      return claims.mfa;
    };
    expect(await mfaOf()).toBe(false);
    await sso.reconfigure(provider.id, { trustsIdpMfa: true });
    expect(await mfaOf()).toBe(true);
    for (const amr of [["pwd"], undefined, ["MFA"], ["mfa "]]) {
      sso.idp.person = { ...sso.idp.person, amr } as never;
      expect(await mfaOf()).toBe(false);
    }
    await sso.reconfigure(provider.id, { trustsIdpMfa: false });
  });

  it("keeps a session of one organization's provider inside that organization, also when it is renewed", async () => {
    const { userId, email } = await member();
    const now = sso.server.clock.now();
    await sso.server.db.updateTable("users").set({ isPlatformAdmin: true }).where("id", "=", userId).execute();
    const roleId = (
      await sso.server.db.selectFrom("roles").select("id").where("name", "=", "Partner Admin").executeTakeFirst()
    )?.id as string;
    await sso.server.db
      .insertInto("partnerUsers")
      .values({
        id: sso.server.services.random.uuid(),
        partnerId,
        userId,
        roleId,
        orgAccess: "all",
        ...plainMembership(now),
      })
      .execute();
    const { refreshToken } = await sso.browser().tokens(login);
    const renewed = await sso.server.request("POST", "/auth/refresh", { body: { refreshToken } });
    const claims = JSON.parse(Buffer.from(renewed.body.accessToken.split(".")[1], "base64url").toString("utf8"));
    expect(claims).toMatchObject({ scope: "organization", orgId });
    expect((await me(renewed.body.accessToken)).email).toBe(email);
    await sso.server.db.deleteFrom("organizationUsers").where("userId", "=", userId).execute();
    const again = await sso.server.request("POST", "/auth/refresh", {
      body: { refreshToken: renewed.body.refreshToken },
    });
    expect([again.status, again.body.code]).toEqual([401, "INVALID_REFRESH_TOKEN"]);
  });
});
