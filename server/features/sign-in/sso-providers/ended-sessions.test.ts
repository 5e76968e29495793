import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

const SAML = {
  type: "saml",
  entityId: "urn:idp",
  ssoUrl: "https://idp.example/sso",
  certificate: "certificate",
} as const;

describe.each(databases)("sessions and their identity provider on %s", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgIds: string[];
  let admin: SignedInUser;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["a", "b", "c", "d", "e", "f", "g", "h"]);
    ({ partnerId } = seeded);
    orgIds = [...seeded.orgIds];
    admin = await sso.server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => sso?.stop());

  let made = 0;
  /** An organization with a provider and a member who signed in through it and by password. */
  async function signedIn() {
    const orgId = orgIds.pop() as string;
    made += 1;
    const { id } = await sso.seedProvider({ orgId });
    const member = await sso.server.signIn({ role: "Org Viewer", orgId, email: `m${made}@acme.example`, mfa: false });
    sso.idp.person = { subject: `s${made}`, email: member.email, emailVerified: true, name: "M" };
    const tokens = await sso.browser().tokens(`/sso/login/${orgId}`);
    const code = await sso.browser().code(`/sso/login/${orgId}`);
    return { id, orgId, member, tokens, code };
  }
  const send = (method: string, path: string, body?: object) =>
    sso.server.request(method, `/sso/providers${path}`, { token: admin.token, ...(body ? { body } : {}) });
  const me = async (token: string) => (await sso.server.request("GET", "/users/me", { token })).status;

  it.each([
    ["deleted", "DELETE", "", undefined, "sso.provider.delete"],
    ["switched off", "POST", "/status", { status: "inactive" }, "sso.provider.status.update"],
    ["set to testing", "POST", "/status", { status: "testing" }, "sso.provider.status.update"],
    ["made a SAML provider", "PATCH", "", SAML, "sso.provider.update"],
  ] as const)(
    "end when it is %s, with codes not yet redeemed, and no others",
    async (_, method, path, body, action) => {
      const ended = await signedIn();
      const other = await signedIn();
      expect([await me(ended.tokens.accessToken), await me(other.tokens.accessToken)]).toEqual([200, 200]);
      const answer = await send(method, `/${ended.id}${path}`, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(await me(ended.tokens.accessToken)).toBe(401);
      const { refreshToken } = ended.tokens;
      expect((await sso.server.request("POST", "/auth/refresh", { body: { refreshToken } })).status).toBe(401);
      const exchanged = await sso.server.request("POST", "/sso/exchange", { body: { code: ended.code } });
      expect([exchanged.status, exchanged.body.code]).toEqual([400, "INVALID_EXCHANGE_CODE"]);
      expect([await me(ended.member.token), await me(other.tokens.accessToken), await me(admin.token)]).toEqual([
        200, 200, 200,
      ]);
      expect((await auditEntries(sso.server, action)).at(-1)?.details).toMatchObject({ endedSessions: 2 });
      orgIds.push(other.orgId);
      await send("DELETE", `/${other.id}`);
      await send("DELETE", `/${ended.id}`);
    },
  );

  it.each(["userInfoUrl", "jwksUrl"])("end when another address says who somebody is: %s", async (field) => {
    const ended = await signedIn();
    const answer = await send("PATCH", `/${ended.id}`, { [field]: `${sso.idp.issuer}/elsewhere` });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await me(ended.tokens.accessToken)).toBe(401);
    expect(await me(ended.member.token)).toBe(200);
    const exchanged = await sso.server.request("POST", "/sso/exchange", { body: { code: ended.code } });
    expect(exchanged.body.code).toBe("INVALID_EXCHANGE_CODE");
    expect((await auditEntries(sso.server, "sso.provider.update")).at(-1)?.details).toMatchObject({ endedSessions: 2 });
    await send("DELETE", `/${ended.id}`);
  });

  it("go on while it only changes", async () => {
    const { id, tokens } = await signedIn();
    await send("PATCH", `/${id}`, { name: "Renamed" });
    expect(await me(tokens.accessToken)).toBe(200);
  });

  it("of passwords end within half a day once a provider that was created enforcing is active", async () => {
    const orgId = orgIds.pop() as string;
    const member = await sso.server.signIn({ role: "Org Viewer", orgId, mfa: false });
    const created = await send("POST", "", {
      orgId,
      name: "Enforcing",
      type: "oidc",
      issuer: sso.idp.issuer,
      clientId: sso.idp.client.id,
      clientSecret: sso.idp.client.secret,
      enforceSSO: true,
    });
    expect(created.body).toMatchObject({ status: "inactive", enforceSSO: true });
    const endOf = async () =>
      (
        await sso.server.db
          .selectFrom("sessions")
          .select("absoluteExpiresAt")
          .where("id", "=", member.sessionId)
          .executeTakeFirstOrThrow()
      ).absoluteExpiresAt;
    const before = await endOf();
    const halfDay = new Date(sso.server.clock.nowMs() + 12 * HOUR).toISOString();
    expect(before > halfDay).toBe(true);
    expect((await send("POST", `/${created.body.id}/status`, { status: "active" })).status).toBe(200);
    expect(await endOf()).toBe(halfDay);
  });

  it("end twelve hours after they began, however often they are refreshed", async () => {
    orgIds = [...(await seedPartner(sso.server, "last", ["last"])).orgIds];
    const { tokens } = await signedIn();
    const refresh = (refreshToken: string) => sso.server.request("POST", "/auth/refresh", { body: { refreshToken } });
    sso.server.clock.advance(12 * HOUR - 1);
    const renewed = await refresh(tokens.refreshToken);
    expect([renewed.status, await me(renewed.body.accessToken)]).toEqual([200, 200]);
    sso.server.clock.advance(1);
    expect(await me(renewed.body.accessToken)).toBe(401);
    expect((await refresh(renewed.body.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
  });
});
