import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainMembership } from "#fixtures/nouns/people/users";
import { builtInRoleId } from "#server/access/roles";
import { issueUserToken } from "#server/features/sign-in/core/user-tokens";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { HOUR } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner, type TestUser } from "../../../test/harness.ts";
import { enrol, freshCode, logIn, PASSWORD, seedPerson } from "../../../test/people.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

const REFUSAL = { error: "Invalid email or password", code: "INVALID_CREDENTIALS" };

describe.each(databases)("enforced single sign-on on %s (cases C22)", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgId: string;
  let otherOrgId: string;
  let provider: ProviderRow;
  let address = 0;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    partnerId = seeded.partnerId;
    [orgId, otherOrgId] = seeded.orgIds as [string, string];
    provider = await sso.seedProvider({ orgId }, { enforceSso: true });
  });
  afterAll(() => sso?.stop());

  const from = () => {
    address += 1;
    return { "x-forwarded-for": `203.0.113.${address}` };
  };
  const person = (user: Partial<TestUser> = {}) =>
    seedPerson(sso.server, { role: "Org Admin", orgId, mfa: false, ...user });
  const log = (email: string, password = PASSWORD) => logIn(sso.server, email, password, from());
  /** The entry of a refusal is written after the answer. */
  const expectFailure = (email: string, entry: object) =>
    expect
      .poll(
        async () => (await auditEntries(sso.server, "user.login.failed")).findLast((one) => one.actorEmail === email),
        { timeout: 5_000 },
      )
      .toMatchObject(entry);
  const claimsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString("utf8"));
  const set = (change: Partial<ProviderRow>) => sso.reconfigure(provider.id, change as never);
  const join = async (userId: string, org: string, createdAt: string) => {
    const id = sso.server.services.random.uuid();
    const row = {
      id,
      orgId: org,
      userId,
      roleId: builtInRoleId("Org Admin"),
      siteIds: null,
      ...plainMembership(createdAt),
    };
    await sso.server.db.insertInto("organizationUsers").values(row).execute();
  };
  const resetToken = (userId: string) =>
    sso.server.db
      .transaction()
      .execute((tx) => issueUserToken(tx, sso.server.services, { userId, kind: "password_reset", data: {} }));
  /** How many mails a request for a reset link brought. */
  const mailsFor = async (email: string) => {
    const of = () => sso.server.mails.filter(({ to }) => to === email).length;
    const before = of();
    const answer = await sso.server.request("POST", "/auth/forgot-password", { body: { email }, headers: from() });
    expect([answer.status, answer.body.success]).toEqual([200, true]);
    await sso.server.workJobs();
    const open = sso.server.db.selectFrom("jobs").select("id").where("status", "<>", "done");
    await expect.poll(async () => (await open.execute()).length, { timeout: 10_000 }).toBe(0);
    return of() - before;
  };

  it("answers a right, a wrong and an unknown password alike, and counts none of them against the account", async () => {
    const { email, userId } = await person();
    for (const [who, password] of [
      [email, PASSWORD],
      [email, "Wrong-Password-1"],
      ["nobody@harbor.example", PASSWORD],
    ] as const) {
      const started = performance.now();
      const answer = await log(who, password);
      expect([answer.status, answer.body]).toEqual([401, REFUSAL]);
      expect(performance.now() - started).toBeGreaterThanOrEqual(200);
    }
    await expectFailure(email, { orgId, actorId: userId, details: { reason: "sso_enforced" } });
    expect((await auditEntries(sso.server, "user.login.failed")).filter((one) => one.actorId === userId).length).toBe(
      2,
    );
    const row = await sso.server.db
      .selectFrom("users")
      .select(["failedLogins", "lockedUntil"])
      .where("id", "=", userId)
      .executeTakeFirst();
    expect(row).toEqual({ failedLogins: 0, lockedUntil: null });
    // Nothing beside the body opens another way.
    for (const path of ["/auth/login?local=true", "/auth/login?sso=false", "/auth/login?bypass=1"]) {
      const answer = await sso.server.request("POST", path, { body: { email, password: PASSWORD }, headers: from() });
      expect(answer.status).toBe(401);
    }
  });

  it("enforces while the provider is active, and nothing otherwise", async () => {
    const { email } = await person();
    for (const change of [
      { status: "inactive" },
      { status: "testing" },
      { status: "active", enforceSso: false },
      { enforceSso: true, type: "saml" },
    ] as const) {
      await set(change);
      expect((await log(email)).status, JSON.stringify(change)).toBe(200);
      expect(await mailsFor(email)).toBe(1);
    }
    await set({ type: "oidc" });
    expect((await log(email)).status).toBe(401);
  });

  it("mails no reset link and takes no token that was handed out before", async () => {
    const { email, userId, token } = await person();
    expect(await mailsFor(email)).toBe(0);
    const reset = await sso.server.request("POST", "/auth/reset-password", {
      body: { token: await resetToken(userId), password: "Another-Horse-8" },
    });
    expect([reset.status, reset.body.code]).toEqual([403, "SSO_REQUIRED"]);
    const unknown = await sso.server.request("POST", "/auth/reset-password", {
      body: { token: "t".repeat(48), password: "Another-Horse-8" },
    });
    expect(unknown.body.code).toBe("INVALID_TOKEN");
    const change = await sso.server.request("POST", "/auth/change-password", {
      token,
      body: { currentPassword: PASSWORD, newPassword: "Another-Horse-8" },
    });
    expect([change.status, change.body.code]).toEqual([403, "SSO_REQUIRED"]);
    await set({ status: "inactive" });
    expect((await log(email)).status).toBe(200);
    await set({ status: "active" });
  });

  it("opens no session by an invitation, but by the provider", async () => {
    const { userId, email } = await person();
    await sso.server.db
      .updateTable("users")
      .set({ status: "invited", passwordHash: null })
      .where("id", "=", userId)
      .execute();
    await sso.server.db.updateTable("users").set({ emailVerifiedAt: null }).where("id", "=", userId).execute();
    await sso.server.db
      .updateTable("organizationUsers")
      .set({ acceptedAt: null })
      .where("userId", "=", userId)
      .execute();
    const membershipId = (
      await sso.server.db.selectFrom("organizationUsers").select("id").where("userId", "=", userId).executeTakeFirst()
    )?.id as string;
    const token = await sso.server.db.transaction().execute((tx) =>
      issueUserToken(tx, sso.server.services, {
        userId,
        kind: "invite",
        data: { kind: "organization", membershipId },
      }),
    );
    const accept = () =>
      sso.server.request("POST", "/auth/accept-invite", { body: { token, password: PASSWORD }, headers: from() });
    const first = await accept();
    expect([first.status, first.body.code]).toEqual([403, "SSO_REQUIRED"]);
    sso.idp.person = { subject: email, email, emailVerified: true };
    expect(await sso.browser().signIn(`/sso/login/${orgId}`)).toMatch(/#ssoCode=/);
    expect((await accept()).body.code).toBe("INVALID_INVITE");
  });

  it("ends password sessions twelve hours after it began, and leaves other tenants' and the provider's own", async () => {
    const other = await seedPartner(sso.server, `beside-${provider.id}`, ["beside"]);
    await set({ enforceSso: false });
    const boss = await sso.server.signIn({ role: "Org Admin", orgId });
    const beside = await sso.server.signIn({ role: "Org Admin", orgId: other.orgIds[0] as string });
    const body = { enforceSSO: true };
    const patched = await sso.server.request("PATCH", `/sso/providers/${provider.id}`, { token: boss.token, body });
    expect(patched.status, JSON.stringify(patched.body)).toBe(200);
    const end = async ({ sessionId }: { sessionId: string }) =>
      (await sso.server.db.selectFrom("sessions").selectAll().where("id", "=", sessionId).executeTakeFirst())
        ?.absoluteExpiresAt;
    expect(await end(boss)).toBe(new Date(sso.server.clock.nowMs() + 12 * 3_600_000).toISOString());
    expect(await end(beside)).toBe("2099-01-01T00:00:00.000Z");
  });

  it("takes no second factor after a password that was given before it was enforced", async () => {
    const admin = await person();
    const { secret } = await enrol(sso.server, admin.token);
    await set({ enforceSso: false });
    const { tempToken } = (await log(admin.email)).body;
    await set({ enforceSso: true });
    const verified = await sso.server.request("POST", "/auth/mfa/verify", {
      body: { tempToken, code: freshCode(sso.server, secret) },
    });
    expect([verified.status, verified.body.code]).toEqual([401, "MFA_SESSION_EXPIRED"]);
    await expectFailure(admin.email, { details: { reason: "sso_enforced" } });
  });

  it("leaves a session that is under way, and moves none into a tenant that enforces", async () => {
    const member = await person();
    const guest = await person({ orgId: otherOrgId });
    await set({ enforceSso: false });
    const [own, others] = [(await log(member.email)).body, (await log(guest.email)).body];
    await set({ enforceSso: true });
    const refresh = (refreshToken: string) => sso.server.request("POST", "/auth/refresh", { body: { refreshToken } });
    expect((await refresh(own.refreshToken)).status).toBe(200);
    await join(guest.userId, orgId, sso.server.clock.now());
    const again = await refresh(others.refreshToken);
    expect(claimsOf(again.body.accessToken)).toMatchObject({ orgId: otherOrgId });
    await sso.server.db
      .deleteFrom("organizationUsers")
      .where("userId", "=", guest.userId)
      .where("orgId", "=", otherOrgId)
      .execute();
    expect((await refresh(again.body.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
  });

  it("locks no one out of other tenants: the password opens those that do not enforce", async () => {
    const { email, userId } = await person();
    expect((await log(email)).status).toBe(401);
    await join(userId, otherOrgId, sso.server.clock.now());
    const answer = await log(email);
    expect(answer.body.user).toMatchObject({ orgId: otherOrgId });
    expect(await mailsFor(email)).toBe(1);
  });

  it("lets organizations be when the partner enforces, and the partner when an organization does", async () => {
    const technician = await seedPerson(sso.server, { role: "Partner Technician", partnerId, mfa: false });
    const elsewhere = await person({ orgId: otherOrgId });
    expect((await log(technician.email)).status).toBe(200);
    const own = await sso.seedProvider({ partnerId }, { enforceSso: true });
    expect((await log(technician.email)).status).toBe(401);
    await expectFailure(technician.email, {
      partnerId,
      orgId: null,
      details: { reason: "sso_enforced" },
    });
    expect((await log(elsewhere.email)).status).toBe(200);
    await sso.reconfigure(own.id, { status: "inactive" });
  });

  it("breaks the glass for no administrator unless the operator says so", async () => {
    const admin = await person();
    await enrol(sso.server, admin.token);
    expect((await log(admin.email)).status).toBe(401);
  });
});

describe.each(databases)("break-glass on %s", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgId: string;
  let address = 0;

  beforeAll(async () => {
    sso = await startSsoTest(database, { SSO_BREAK_GLASS: "true" });
    const seeded = await seedPartner(sso.server, "acme", ["harbor"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    await sso.seedProvider({ orgId }, { enforceSso: true });
    await sso.seedProvider({ partnerId }, { enforceSso: true });
  });
  afterAll(() => sso?.stop());

  const log = (email: string) => {
    address += 1;
    return logIn(sso.server, email, PASSWORD, { "x-forwarded-for": `203.0.113.${address}` });
  };
  const enrolled = async (user: Partial<TestUser>): Promise<SignedInUser & { secret: string }> => {
    const person = await seedPerson(sso.server, { role: "Org Admin", ...user, mfa: false });
    return { ...person, secret: (await enrol(sso.server, person.token)).secret };
  };

  it.each([
    ["Org Admin", () => ({ orgId })],
    ["Partner Admin", () => ({ partnerId })],
  ])("lets a %s in by password and second factor, and records it in the audit log", async (role, tenant) => {
    const admin = await enrolled({ role, ...tenant() });
    const first = await log(admin.email);
    expect(first.body).toMatchObject({ mfaRequired: true });
    expect(
      (await auditEntries(sso.server, "sso.break_glass.login")).filter((one) => one.actorId === admin.userId),
    ).toEqual([]);
    const code = freshCode(sso.server, admin.secret);
    const done = await sso.server.request("POST", "/auth/mfa/verify", {
      body: { tempToken: first.body.tempToken, code },
    });
    expect(done.status).toBe(200);
    for (const action of ["user.login", "sso.break_glass.login"] as const) {
      const own = (await auditEntries(sso.server, action)).filter((one) => one.actorId === admin.userId);
      expect(own).toMatchObject([{ result: "success", actorEmail: admin.email, ...tenant() }]);
    }
    const renewed = await sso.server.request("POST", "/auth/refresh", {
      body: { refreshToken: done.body.refreshToken },
    });
    expect(renewed.status).toBe(200);
    const sessions = sso.server.db.selectFrom("sessions").select("absoluteExpiresAt").orderBy("createdAt", "desc");
    const begun = await sessions.where("userId", "=", admin.userId).where("revokedAt", "is", null).executeTakeFirst();
    expect(begun?.absoluteExpiresAt).toBe(new Date(sso.server.clock.nowMs() + 12 * HOUR).toISOString());
  });

  it("refuses people without a second factor, in another role, or in a custom role with the same permissions", async () => {
    const withoutFactor = await seedPerson(sso.server, { role: "Org Admin", orgId, mfa: false });
    expect((await log(withoutFactor.email)).status).toBe(401);
    expect((await log((await enrolled({ role: "Org Technician", orgId })).email)).status).toBe(401);
    expect((await log((await enrolled({ role: "custom", permissions: ["*:*"], orgId })).email)).status).toBe(401);
  });

  it("moves no session into a tenant that enforces: break-glass happens only at a sign-in, which is recorded", async () => {
    const other = await seedPartner(sso.server, "other", ["island"]);
    const guest = await enrolled({ orgId: other.orgIds[0] as string });
    const code = freshCode(sso.server, guest.secret);
    const { tempToken } = (await log(guest.email)).body;
    const { body } = await sso.server.request("POST", "/auth/mfa/verify", { body: { tempToken, code } });
    const membership = await sso.server.db
      .deleteFrom("organizationUsers")
      .where("userId", "=", guest.userId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await sso.server.db
      .insertInto("organizationUsers")
      .values({ ...membership, orgId })
      .execute();
    const refused = await sso.server.request("POST", "/auth/refresh", { body: { refreshToken: body.refreshToken } });
    expect([refused.status, refused.body.code]).toEqual([401, "INVALID_REFRESH_TOKEN"]);
  });

  it("still resets no password", async () => {
    const admin = await enrolled({ orgId });
    const token = await sso.server.db
      .transaction()
      .execute((tx) =>
        issueUserToken(tx, sso.server.services, { userId: admin.userId, kind: "password_reset", data: {} }),
      );
    const reset = await sso.server.request("POST", "/auth/reset-password", {
      body: { token, password: "Another-Horse-8" },
    });
    expect(reset.body.code).toBe("SSO_REQUIRED");
  });
});
