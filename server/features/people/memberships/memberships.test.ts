import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainProvider } from "#fixtures/nouns/sign-in/sso-providers";
import { builtInRoleId } from "#server/access/roles";
import { auditEntries } from "../../../test/audit-entries.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { joinOrganization, providerSession } from "../../../test/guest.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { logIn, PASSWORD, seedPerson } from "../../../test/people.ts";

const viewer = builtInRoleId("Org Viewer");

describe.each(databases)("own memberships on %s", (database) => {
  let server: TestServer;
  let homePartnerId: string;
  let homeOrgId: string;
  let otherOrgId: string;
  let inviter: SignedInUser;
  let count = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    const home = await seedPartner(server, "home", ["harbor"]);
    const other = await seedPartner(server, "other", ["island"]);
    homePartnerId = home.partnerId;
    homeOrgId = home.orgIds[0] as string;
    otherOrgId = other.orgIds[0] as string;
    inviter = await server.signIn({ role: "Org Admin", orgId: otherOrgId });
  });
  afterAll(() => server?.stop());

  const newEmail = () => `person-${++count}@harbor.example`;
  const person = () => seedPerson(server, { role: "Org Admin", orgId: homeOrgId, email: newEmail() });
  const invite = async (email: string) => {
    const body = { email, name: "Guest", roleId: viewer };
    const answer = await server.request("POST", "/users/invite", { token: inviter.token, body });
    expect(answer.status).toBe(201);
    return answer.body.id as string;
  };
  const own = (token: string, method = "GET", rest = "") =>
    server.request(method, `/users/me/memberships${rest}`, { token });
  const me = (token: string) => server.request("GET", "/users/me", { token });
  const seedProvider = async (orgId: string, enforceSso = false) => {
    const id = server.services.random.uuid();
    const row = { ...plainProvider(server.clock.now()), id, orgId, partnerId: null, createdBy: null, enforceSso };
    await server.db.insertInto("ssoProviders").values(row).execute();
    return id;
  };

  it("are listed with the invitations that wait, accepted, gone on in and left", async () => {
    const { email, userId, token } = await person();
    const id = await invite(email);
    const listed = (await own(token)).body.data;
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({ tenantName: "harbor", status: "active", home: true, selected: false });
    expect(listed[1]).toMatchObject({ id, tenantId: otherOrgId, tenantName: "island", status: "invited", home: false });
    expect((await own(token, "POST", `/${id}/select`)).status).toBe(404);
    expect((await own(token, "POST", `/${id}/accept`)).body).toMatchObject({ id, status: "active" });
    expect((await own(token)).body.data.map(({ home }: { home: boolean }) => home)).toEqual([false, false]);
    const accepted = (await auditEntries(server, "user.invite.accepted")).at(-1);
    expect(accepted).toMatchObject({ orgId: otherOrgId, actorId: userId });
    const seen = await server.request("GET", `/users/${userId}`, { token: inviter.token });
    expect(seen.body).toMatchObject({ id: userId, status: "active", lastLoginAt: null });
    const there = await own(token, "POST", `/${id}/select`);
    expect(there.status).toBe(200);
    expect((await me(there.body.accessToken)).body).toMatchObject({ orgId: otherOrgId, mfaSatisfied: true });
    expect((await me(token)).body.orgId).toBe(homeOrgId);
    expect((await logIn(server, email)).body.user.orgId).toBe(otherOrgId);
    expect((await own(token, "DELETE", `/${id}`)).body).toEqual({ success: true });
    expect((await eventsOf(server.db, userId)).map(({ kind, orgId }) => [kind, orgId])).toEqual([
      ["user.login", otherOrgId],
      ["user.removed", otherOrgId],
    ]);
    expect((await me(there.body.accessToken)).status).toBe(401);
    expect((await me(token)).status).toBe(200);
    expect((await logIn(server, email)).body.user.orgId).toBe(homeOrgId);
    const renewed = await server.request("POST", "/auth/refresh", { body: { refreshToken: there.body.refreshToken } });
    expect(renewed.body.code).toBe("INVALID_REFRESH_TOKEN");
  });

  it("are declined without a trace at the inviter but the entry", async () => {
    const { email, token, userId } = await person();
    const id = await invite(email);
    const name = (await me(token)).body.name;
    expect((await own(token, "DELETE", `/${id}`)).status).toBe(200);
    expect((await own(token)).body.data).toHaveLength(1);
    const entry = (await auditEntries(server, "user.remove")).at(-1);
    expect(entry).toMatchObject({
      ...{ orgId: otherOrgId, actorId: id, actorEmail: email, resourceId: id, resourceName: "Guest" },
      details: { declined: true },
    });
    for (const known of [name, userId]) expect(JSON.stringify(entry)).not.toContain(known);
    expect((await server.request("GET", `/users/${id}`, { token: inviter.token })).status).toBe(404);
    const guest = { orgId: otherOrgId, partnerId: null, siteId: null, subjectType: "user" };
    const data = { userId: id, userName: "Guest" };
    expect(await eventsOf(server.db, id), "nothing but what the inviter wrote").toEqual([
      { ...guest, kind: "user.invited", data },
      { ...guest, kind: "user.removed", data: { ...data, declined: true } },
    ]);
    for (const [method, rest] of [
      ["POST", `/${id}/accept`],
      ["POST", `/${id}/select`],
      ["DELETE", `/${id}`],
    ] as const)
      expect((await own(token, method, rest)).status).toBe(404);
  });

  it("do not move: a session ends with its membership, and waits while its partner is suspended", async () => {
    const { email, userId } = await person();
    const { refreshToken, accessToken } = (await logIn(server, email)).body;
    await joinOrganization(server, { userId, orgId: otherOrgId });
    const refresh = (token: string) => server.request("POST", "/auth/refresh", { body: { refreshToken: token } });
    const set = (status: "suspended" | "active") =>
      server.db.updateTable("partners").set({ status }).where("id", "=", homePartnerId).execute();
    await set("suspended");
    expect((await refresh(refreshToken)).status).toBe(401);
    await set("active");
    const renewed = await refresh(refreshToken);
    expect(renewed.status).toBe(200);
    const { orgId } = (await me(renewed.body.accessToken)).body;
    expect(orgId).toBe(homeOrgId);
    await server.db
      .deleteFrom("organizationUsers")
      .where("userId", "=", userId)
      .where("orgId", "=", homeOrgId)
      .execute();
    expect((await me(accessToken)).status).toBe(401);
    expect((await refresh(renewed.body.refreshToken)).status).toBe(401);
    const sessions = await server.db.selectFrom("sessions").selectAll().where("userId", "=", userId).execute();
    expect(sessions.filter(({ revokedReason }) => revokedReason === "membership ended")).toHaveLength(1);
  });

  it("are accepted by who can speak for the address alone", async () => {
    const { email, userId, token } = await person();
    const id = await invite(email);
    const providerId = await seedProvider(homeOrgId);
    const provided = (await providerSession(server, { userId, orgId: homeOrgId, providerId })).token;
    expect((await own(provided)).body.data).toHaveLength(1);
    const accept = async (as: string) => (await own(as, "POST", `/${id}/accept`)).body.code;
    expect(await accept(provided)).toBe("HOME_SESSION_REQUIRED");
    await server.db.updateTable("users").set({ emailVerifiedAt: null }).where("id", "=", userId).execute();
    expect((await own(token)).body.data).toHaveLength(1);
    expect(await accept(token)).toBe("HOME_SESSION_REQUIRED");
    const now = server.clock.now();
    const domain = { id: server.services.random.uuid(), orgId: homeOrgId, domain: "harbor.example" };
    const stamps = { verifiedAt: now, lastCheckedAt: now, seenAt: now, createdAt: now, updatedAt: now };
    await server.db
      .insertInto("ssoDomains")
      .values({ ...domain, ...stamps, verificationToken: "0".repeat(48), createdBy: null })
      .execute();
    expect((await own(provided)).body.data).toHaveLength(2);
    expect((await own(provided, "POST", `/${id}/accept`)).body.status).toBe("active");
    expect((await own(provided, "POST", `/${id}/select`)).body.code).toBe("HOME_SESSION_REQUIRED");
    await server.db.deleteFrom("ssoDomains").execute();
  });

  it("keep a partner its last administrator, also when two leave at the same moment", async () => {
    const { partnerId } = await seedPartner(server, `pair-${count}`);
    const admins = await Promise.all([1, 2].map(() => server.signIn({ role: "Partner Admin", partnerId })));
    const idle = await server.signIn({ role: "Partner Admin", partnerId });
    const unaccepted = await server.signIn({ role: "Partner Admin", partnerId });
    await server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", idle.userId).execute();
    await server.db
      .updateTable("partnerUsers")
      .set({ acceptedAt: null })
      .where("userId", "=", unaccepted.userId)
      .execute();
    const ids = await Promise.all(admins.map(async ({ token }) => (await own(token)).body.data[0].id as string));
    const left = await Promise.all(admins.map(({ token }, at) => own(token, "DELETE", `/${ids[at]}`)));
    expect(left.map(({ body }) => body.code ?? "left").sort()).toEqual(["LAST_ADMIN", "left"]);
  });

  it("close the account of who leaves the last one, until they are invited again", async () => {
    const { email, userId, token } = await person();
    const [{ id }] = (await own(token)).body.data;
    expect((await own(token, "DELETE", `/${id}`)).status).toBe(200);
    expect((await me(token)).status).toBe(401);
    const row = await server.db.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
    expect(row).toMatchObject({ status: "disabled", passwordHash: null });
    await invite(email);
    expect((await server.db.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst())?.status).toBe(
      "invited",
    );
  });

  describe("lock nobody out", () => {
    it("not a person of two tenants: neither closes the other, and five wrong codes in one leave the other alone", async () => {
      const { email, userId, token } = await person();
      await joinOrganization(server, { userId, orgId: otherOrgId });
      const providerId = await seedProvider(otherOrgId, true);
      const guest = await providerSession(server, { userId, orgId: otherOrgId, providerId });
      const secret = server.services.vault.seal("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", `mfa:${userId}`);
      await server.db.updateTable("users").set({ mfaSecret: secret }).where("id", "=", userId).execute();
      const stepUp = (as: string) =>
        server.request("POST", "/auth/mfa/step-up", { token: as, body: { code: "000000", method: "totp" } });
      for (let n = 0; n < 5; n += 1) expect((await stepUp(guest.token)).body.code).toBe("INVALID_MFA_CODE");
      expect((await stepUp(guest.token)).body.code).toBe("RATE_LIMITED");
      const again = await providerSession(server, { userId, orgId: otherOrgId, providerId });
      expect((await stepUp(again.token)).body.code).toBe("RATE_LIMITED");
      expect((await stepUp(token)).body.code).toBe("INVALID_MFA_CODE");
      expect((await logIn(server, email)).body.mfaRequired).toBe(true);
      await server.db.updateTable("ssoProviders").set({ status: "inactive" }).where("id", "=", providerId).execute();
    });

    it("not a member whose provider is switched off: an answered mail gives the first password", async () => {
      const { email, userId } = await server.signIn({ role: "Org Admin", orgId: homeOrgId, email: newEmail() });
      await server.db.updateTable("users").set({ emailVerifiedAt: null }).where("id", "=", userId).execute();
      expect((await logIn(server, email)).status).toBe(401);
      await server.request("POST", "/auth/forgot-password", { body: { email } });
      const mailed = () => server.mails.find(({ to }) => to === email)?.text ?? "";
      await expect.poll(mailed, { timeout: 10_000 }).toMatch(/#token=/);
      const token = /#token=(\S+)/.exec(mailed())?.[1];
      const body = { token, password: PASSWORD };
      expect((await server.request("POST", "/auth/reset-password", { body })).status).toBe(200);
      expect((await logIn(server, email)).body.user.orgId).toBe(homeOrgId);
    });

    it("not an administrator of the installation who is a member too", async () => {
      const admin = await seedPerson(server, { role: "System Admin", email: newEmail() });
      const id = await invite(admin.email);
      expect((await logIn(server, admin.email)).body.user.scope).toBe("system");
      expect((await own(admin.token, "POST", `/${id}/accept`)).status).toBe(200);
      const providerId = await seedProvider(otherOrgId, true);
      const guest = await providerSession(server, { userId: admin.userId, orgId: otherOrgId, providerId });
      const change = await server.request("PATCH", "/users/me", { token: guest.token, body: { name: "Owned" } });
      expect(change.body.code).toBe("HOME_SESSION_REQUIRED");
      expect((await me(guest.token)).body).toMatchObject({ isPlatformAdmin: false, scope: "organization" });
      expect((await own(admin.token, "POST", `/${id}/select`)).body.code).toBe("SSO_REQUIRED");
      expect((await logIn(server, admin.email)).body.user.scope).toBe("system");
      expect((await own(admin.token, "DELETE", `/${id}`)).status).toBe(200);
      expect((await me(admin.token)).body.scope).toBe("system");
      await server.db.updateTable("ssoProviders").set({ status: "inactive" }).where("id", "=", providerId).execute();
    });
  });
});
