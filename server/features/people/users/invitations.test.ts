import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInRoleId } from "#server/access/roles";
import { DAY, MINUTE } from "#server/platform/clock";
import { jsonLog } from "#server/platform/log";
import { auditEntries } from "../../../test/audit-entries.ts";
import { makeSite } from "../../../test/enroll.ts";
import {
  type Answer,
  databases,
  type SignedInUser,
  seedPartner,
  startTestServer,
  type TestServer,
} from "../../../test/harness.ts";
import { leaksInDatabase } from "../../../test/leaks.ts";
import { enrol, freshCode, logIn, PASSWORD, seedPerson } from "../../../test/people.ts";

const viewer = builtInRoleId("Org Viewer");
const technician = builtInRoleId("Partner Technician");

describe.each(databases)("invitations on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let secondOrgId: string;
  let partnerAdmin: SignedInUser;
  let orgAdmin: SignedInUser;
  let count = 0;
  let clients = 0;
  const lines: string[] = [];

  beforeAll(async () => {
    const log = jsonLog("debug", (line) => lines.push(line));
    server = await startTestServer(database, { TRUST_PROXY_HEADERS: "true" }, { log });
    const seeded = await seedPartner(server, "acme", ["harbor", "quay"]);
    partnerId = seeded.partnerId;
    [orgId, secondOrgId] = seeded.orgIds as [string, string];
    partnerAdmin = await server.signIn({ role: "Partner Admin", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", orgId });
  });
  afterAll(() => server?.stop());

  const newEmail = () => {
    count += 1;
    return `guest-${count}@guest.example`;
  };
  const invite = (body: object, who: SignedInUser = orgAdmin, headers: Record<string, string> = {}) =>
    server.request("POST", "/users/invite", {
      token: who.token,
      body: { email: newEmail(), name: "Guest", roleId: viewer, ...body },
      headers,
    });
  const resend = (body: object, who: SignedInUser = orgAdmin) =>
    server.request("POST", "/users/resend-invite", { token: who.token, body });
  const preview = (token: string) => server.request("POST", "/auth/invite/preview", { body: { token } });
  /** Each from an address of its own, which limits count apart. */
  const accept = (token: string, body: object = {}, address = `198.51.${++clients % 256}.7`) =>
    server.request("POST", "/auth/accept-invite", {
      body: { token, password: PASSWORD, ...body },
      headers: { "x-forwarded-for": address },
    });
  const mailsTo = (email: string) => server.mails.filter((mail) => mail.to === email);
  const mailedToken = async (email: string, nth = 1) => {
    await server.workJobs();
    await expect.poll(() => mailsTo(email).length, { timeout: 10_000 }).toBe(nth);
    return /#token=(\S+)/.exec(mailsTo(email)[nth - 1]?.text ?? "")?.[1] as string;
  };

  it("mails an invitation that gives the person a password and signs them in, once", async () => {
    const email = newEmail();
    const made = await invite({ email: ` ${email.toUpperCase()} ` });
    expect(made).toMatchObject({
      status: 201,
      body: { email, name: "Guest", status: "invited", roleId: viewer, inviteEmailSent: true, inviteUrl: null },
    });
    expect((await logIn(server, email)).status).toBe(401);
    const token = await mailedToken(email);
    expect(token).toMatch(/^[A-Za-z0-9_-]{48}$/);
    expect((await preview(token)).body).toEqual({ email, name: "Guest", partnerName: "acme", orgName: "harbor" });
    expect((await accept(token, { password: "short" })).body.code).toBe("WEAK_PASSWORD");
    const answers = await Promise.all([1, 2, 3].map(() => accept(token, { name: "Real Name" })));
    expect(answers.map((answer) => answer.body.code ?? "in").sort()).toEqual([
      "INVALID_INVITE",
      "INVALID_INVITE",
      "in",
    ]);
    const won = answers.find((answer) => answer.status === 200);
    expect(won?.body).toMatchObject({
      mfaRequired: false,
      user: { email, name: "Real Name", scope: "organization", orgId },
    });
    const me = await server.request("GET", "/users/me", { token: won?.body.accessToken });
    expect(me.body).toMatchObject({ status: "active", emailVerifiedAt: server.clock.now(), mfaSatisfied: false });
    expect((await preview(token)).body.code).toBe("INVITE_ALREADY_ACCEPTED");
    expect((await logIn(server, email)).status).toBe(200);
    const invited = (await auditEntries(server, "user.invite")).find((entry) => entry.resourceId === made.body.id);
    expect(invited).toMatchObject({ orgId, actorId: orgAdmin.userId, details: { email, roleName: "Org Viewer" } });
    const accepted = (await auditEntries(server, "user.invite.accepted")).filter((entry) => entry.result === "success");
    expect(accepted.find((entry) => entry.actorId === won?.body.user.id)).toMatchObject({ orgId });
  });

  it("gives members of a partner and of an organization the access that was asked for", async () => {
    const staff = await invite({ roleId: technician, orgAccess: "selected", orgIds: [orgId, orgId] }, partnerAdmin);
    const seen = await server.request("GET", `/users/${staff.body.id}`, { token: partnerAdmin.token });
    expect(seen.body).toMatchObject({ orgAccess: "selected", orgIds: [orgId], status: "invited" });
    const plain = await invite({ roleId: technician }, partnerAdmin);
    const none = await server.request("GET", `/users/${plain.body.id}`, { token: partnerAdmin.token });
    expect(none.body).toMatchObject({ orgAccess: "none", orgIds: [] });
    const siteId = await seedSite(orgId);
    const guest = await invite({ orgId, siteIds: [siteId] }, partnerAdmin);
    const member = await server.request("GET", `/users/${guest.body.id}`, { token: orgAdmin.token });
    expect(member.body).toMatchObject({ siteIds: [siteId] });
  });

  const seedSite = async (owner: string) => {
    const id = server.services.random.uuid();
    const now = server.clock.now();
    const row = { id, orgId: owner, name: "HQ", timezone: "UTC", address: null, contact: null, settings: {} };
    await server.db
      .insertInto("sites")
      .values({ ...row, createdAt: now, updatedAt: now })
      .execute();
    return id;
  };

  it("refuses roles, access fields and targets that do not fit", async () => {
    const other = await seedPartner(server, `other-${database}`, ["foreign"]);
    const foreign = await server.signIn({
      role: "Org Viewer",
      permissions: ["users:invite"],
      orgId: other.orgIds[0] as string,
    });
    const foreignRole = (await server.request("GET", "/users/me", { token: foreign.token })).body.roleId;
    const code = async (body: object, who: SignedInUser = orgAdmin) => (await invite(body, who)).body.code;
    expect(await code({ roleId: technician })).toBe("INVALID_ROLE");
    expect(await code({ roleId: builtInRoleId("System Admin") })).toBe("INVALID_ROLE");
    expect(await code({ roleId: foreignRole })).toBe("INVALID_ROLE");
    expect(await code({ roleId: server.services.random.uuid() })).toBe("INVALID_ROLE");
    expect(await code({ orgIds: [orgId] })).toBe("ORG_IDS_NOT_ALLOWED");
    expect(await code({ orgId: secondOrgId })).toBe("ORG_ACCESS_DENIED");
    expect(await code({ siteIds: [await seedSite(secondOrgId)] })).toBe("SITE_NOT_IN_ORG");
    const asPartner = (body: object) => code({ roleId: technician, ...body }, partnerAdmin);
    expect(await asPartner({ orgAccess: "selected" })).toBe("ORG_IDS_REQUIRED");
    expect(await asPartner({ orgAccess: "all", orgIds: [orgId] })).toBe("ORG_IDS_NOT_ALLOWED");
    expect(await asPartner({ orgAccess: "selected", orgIds: other.orgIds })).toBe("ORG_ACCESS_DENIED");
    expect(await code({ orgId: other.orgIds[0] }, partnerAdmin)).toBe("ORG_ACCESS_DENIED");
    await server.db.updateTable("organizations").set({ status: "churned" }).where("id", "=", secondOrgId).execute();
    expect(await code({ orgId: secondOrgId }, partnerAdmin)).toBe("ORG_READ_ONLY");
    await server.db.updateTable("organizations").set({ status: "active" }).where("id", "=", secondOrgId).execute();
    const users = await server.db
      .selectFrom("users")
      .select("id")
      .where("name", "=", "Guest")
      .where("email", "like", "%@guest.example")
      .execute();
    const members = await server.db.selectFrom("organizationUsers").select("userId").execute();
    const staff = await server.db.selectFrom("partnerUsers").select("userId").execute();
    const placed = new Set([...members, ...staff].map((row) => row.userId));
    expect(users.filter((user) => !placed.has(user.id))).toEqual([]);
  });

  it("acts on neither of two tenants that were named at once", async () => {
    const other = await seedPartner(server, `other-${count}`, ["elsewhere"]);
    const system = await server.signIn({ role: "System Admin" });
    for (const [who, code] of [
      [system, "VALIDATION_ERROR"],
      [partnerAdmin, "FORBIDDEN"],
      [orgAdmin, "FORBIDDEN"],
    ] as const) {
      const named = { orgId, partnerId: other.partnerId };
      expect((await invite(named, who)).body.code).toBe(code);
      const query = new URLSearchParams(named);
      expect((await server.request("GET", `/users?${query}`, { token: who.token })).body.code).toBe(code);
    }
    expect((await invite({ orgId, partnerId }, system)).status).toBe(201);
    expect((await invite({ orgId, partnerId }, orgAdmin)).status).toBe(201);
  });

  it("grants nothing the inviting user does not hold", async () => {
    const limited = await server.signIn({ role: "", permissions: ["users:invite", "devices:read"], orgId });
    const refused = await invite({ roleId: builtInRoleId("Org Admin") }, limited);
    expect(refused.body).toMatchObject({
      code: "ROLE_EXCEEDS_CALLER",
      details: { missing: expect.arrayContaining(["users:write"]) },
    });
    const staff = await server.signIn({ role: "", permissions: ["users:invite", "devices:read"], partnerId });
    expect((await invite({ roleId: builtInRoleId("Partner Admin") }, staff)).body.code).toBe("ROLE_EXCEEDS_CALLER");
    expect((await invite({ roleId: builtInRoleId("Partner Admin") }, partnerAdmin)).status).toBe(201);
    const siteId = await seedSite(orgId);
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    expect((await invite({}, confined)).body.code).toBe("SITE_ACCESS_DENIED");
    expect((await invite({ siteIds: [siteId, await seedSite(orgId)] }, confined)).body.code).toBe("SITE_ACCESS_DENIED");
    expect((await invite({ siteIds: [siteId] }, confined)).status).toBe(201);
    const unproved = await server.signIn({ role: "Org Admin", orgId, mfa: false });
    expect((await invite({}, unproved)).body.code).toBe("MFA_REQUIRED");
  });

  it("shows nothing of a person who is known elsewhere, and gives nothing, until they accept", async () => {
    const { orgIds } = await seedPartner(server, `elsewhere-${database}`, ["elsewhere"]);
    const home = orgIds[0] as string;
    const known = await seedPerson(server, { role: "Org Viewer", name: "Known", orgId: home, email: newEmail() });
    const stranger = newEmail();
    const shape = ({ status, body }: Answer) => ({ status, ...body, id: "", email: "" });
    const made = await invite({ email: known.email, name: "As written" });
    expect(shape(made)).toEqual(shape(await invite({ email: stranger, name: "As written" })));
    expect(made.body).toMatchObject({ name: "As written", status: "invited", inviteEmailSent: true, inviteUrl: null });
    expect(made.body.id).not.toBe(known.userId);
    expect((await invite({ email: known.email })).body.code).toBe("USER_EXISTS");
    const seen = await server.request("GET", `/users/${made.body.id}`, { token: orgAdmin.token });
    const unknown = { name: "As written", status: "invited", lastLoginAt: null, mfaEnabled: false };
    expect(seen.body).toMatchObject({ ...unknown, createdAt: server.clock.now() });
    expect((await server.request("GET", `/users/${known.userId}`, { token: orgAdmin.token })).status).toBe(404);
    const listed = await server.request("GET", "/users?limit=100", { token: partnerAdmin.token });
    expect(JSON.stringify(listed.body)).not.toContain(known.userId);
    const found = await server.request("GET", "/users?search=Known", { token: orgAdmin.token });
    expect(found.body.data).toEqual([]);
    expect((await logIn(server, known.email)).body.user).toMatchObject({ orgId: home });
    expect((await server.request("GET", "/users/me", { token: known.token })).body.orgId).toBe(home);
    await server.settled();
    const written = await server.db.selectFrom("auditLogs").selectAll().where("orgId", "=", orgId).execute();
    expect(JSON.stringify(written)).not.toContain(known.userId);
  });

  it("signs a known person in with their own password, which it never replaces, then with their factor", async () => {
    const { orgIds } = await seedPartner(server, `owner-${database}`, ["owner"]);
    const known = await seedPerson(server, { role: "Org Viewer", orgId: orgIds[0] as string, email: newEmail() });
    const { secret } = await enrol(server, known.token);
    await invite({ email: known.email });
    const token = await mailedToken(known.email);
    expect((await preview(token)).body.name).toBe("Guest");
    const before = await passwordOf(known.userId);
    expect((await accept(token, { password: "Another-Horse-8" })).body.code).toBe("INVALID_CREDENTIALS");
    const pending = await accept(token);
    expect(pending.body).toMatchObject({ mfaRequired: true });
    const refused = (await auditEntries(server, "user.invite.accepted")).filter(({ result }) => result === "denied");
    expect(refused.filter(({ details }) => details.reason === "wrong_password").length).toBeGreaterThan(0);
    expect(JSON.stringify(refused)).not.toContain(known.userId);
    const memberships = async () =>
      (await server.db.selectFrom("organizationUsers").selectAll().where("userId", "=", known.userId).execute()).filter(
        ({ acceptedAt }) => acceptedAt !== null,
      );
    expect(await memberships()).toHaveLength(1);
    const verify = (code: string) =>
      server.request("POST", "/auth/mfa/verify", { body: { tempToken: pending.body.tempToken, code } });
    expect((await verify("000000")).body.code).toBe("INVALID_MFA_CODE");
    expect(await memberships()).toHaveLength(1);
    const done = await verify(freshCode(server, secret));
    expect(done.body).toMatchObject({ mfaRequired: false, user: { id: known.userId, orgId } });
    expect(await memberships()).toHaveLength(2);
    expect(await passwordOf(known.userId)).toBe(before);
    expect((await accept(token)).body.code).toBe("INVALID_INVITE");
  });

  const passwordOf = async (id: string) =>
    (await server.db.selectFrom("users").select("passwordHash").where("id", "=", id).executeTakeFirst())?.passwordHash;

  it("locks an account that is guessed at through an invitation, as a sign-in does", async () => {
    const { orgIds } = await seedPartner(server, `guessed-${database}`, ["guessed"]);
    const known = await seedPerson(server, { role: "Org Viewer", orgId: orgIds[0] as string, email: newEmail() });
    await invite({ email: known.email });
    const token = await mailedToken(known.email);
    const wrong = { password: "Another-Horse-8" };
    for (let n = 0; n < 5; n += 1) await accept(token, wrong, "203.0.113.2");
    expect((await accept(token, {}, "203.0.113.2")).body.code).toBe("RATE_LIMITED");
    expect((await accept(token)).body.code).toBe("INVALID_CREDENTIALS");
    server.clock.advance(5 * MINUTE);
    expect((await accept(token)).status).toBe(200);
  });

  it("ends with its inviter, and with the inviter's right to invite or to give the role", async () => {
    const inviter = () => server.signIn({ role: "", permissions: ["users:invite", "devices:read"], orgId });
    const role = await server.db.selectFrom("rolePermissions").selectAll().where("roleId", "=", viewer).execute();
    const all = [...role.map(({ permission }) => permission), "users:invite"];
    const takeAway: ((who: SignedInUser) => Promise<unknown>)[] = [
      (who) => server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", who.userId).execute(),
      (who) => server.db.deleteFrom("organizationUsers").where("userId", "=", who.userId).execute(),
      (who) =>
        server.db.updateTable("organizationUsers").set({ roleId: viewer }).where("userId", "=", who.userId).execute(),
    ];
    expect((await invite({}, await inviter())).body.code).toBe("ROLE_EXCEEDS_CALLER");
    for (const change of takeAway) {
      const who = await server.signIn({ role: "", permissions: all, orgId });
      const email = newEmail();
      expect((await invite({ email }, who)).status).toBe(201);
      const token = await mailedToken(email);
      expect((await preview(token)).status).toBe(200);
      await change(who);
      for (const call of [accept, preview]) expect((await call(token)).body.code).toBe("INVALID_INVITE");
      const user = await server.db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
      expect(user).toMatchObject({ status: "invited", passwordHash: null, emailVerifiedAt: null });
    }
  });

  it("takes back a person who was left without any membership, and leaves one disabled elsewhere disabled", async () => {
    const gone = await server.signIn({ role: "Org Viewer", orgId, email: newEmail() });
    await server.db.deleteFrom("organizationUsers").where("userId", "=", gone.userId).execute();
    const { orgIds } = await seedPartner(server, `disabled-${database}`, ["disabled"]);
    const elsewhere = await server.signIn({ role: "Org Viewer", orgId: orgIds[0] as string, email: newEmail() });
    await server.db
      .updateTable("users")
      .set({ status: "disabled" })
      .where("id", "in", [gone.userId, elsewhere.userId])
      .execute();
    expect((await invite({ email: gone.email })).body).toMatchObject({ status: "invited", inviteEmailSent: true });
    expect((await accept(await mailedToken(gone.email))).status).toBe(200);
    expect((await invite({ email: elsewhere.email })).body).toMatchObject({ status: "invited", inviteEmailSent: true });
    expect((await accept(await mailedToken(elsewhere.email))).body.code).toBe("INVALID_INVITE");
    expect((await logIn(server, elsewhere.email)).status).toBe(401);
  });

  it("makes one person of parallel invitations to one address", async () => {
    const email = newEmail();
    const same = await Promise.all([1, 2, 3].map(() => invite({ email })));
    expect(same.map((answer) => answer.body.code ?? "made").sort()).toEqual(["USER_EXISTS", "USER_EXISTS", "made"]);
    const shared = newEmail();
    const both = await Promise.all([
      invite({ email: shared }),
      invite({ email: shared, roleId: technician }, partnerAdmin),
    ]);
    expect(both.map((answer) => answer.status)).toEqual([201, 201]);
    const people = await server.db.selectFrom("users").select("id").where("email", "=", shared).execute();
    expect(people).toHaveLength(1);
    const { id } = people[0] as { id: string };
    expect(await server.db.selectFrom("userTokens").select("id").where("userId", "=", id).execute()).toHaveLength(2);
  });

  it("sends an invitation again, which ends the older one", async () => {
    const email = newEmail();
    const { body } = await invite({ email });
    const first = await mailedToken(email);
    expect((await resend({ userId: body.id })).body).toEqual({ success: true, inviteEmailSent: true, inviteUrl: null });
    const second = await mailedToken(email, 2);
    expect((await accept(first)).body.code).toBe("INVALID_INVITE");
    expect((await resend({ userId: body.id, orgId }, partnerAdmin)).status).toBe(200);
    expect((await preview(second)).body.code).toBe("INVALID_INVITE");
    const third = await mailedToken(email, 3);
    const { user } = (await accept(third)).body;
    expect((await resend({ userId: user.id })).body.code).toBe("NOT_INVITED");
    expect((await resend({ userId: partnerAdmin.userId })).body.code).toBe("NOT_FOUND");
    expect((await resend({ userId: user.id }, partnerAdmin)).body.code).toBe("NOT_FOUND");
  });

  it("ends an invitation after seven days, with its membership, and with its tenant", async () => {
    const invited = async () => {
      const email = newEmail();
      const { body } = await invite({ email, orgId: secondOrgId }, partnerAdmin);
      return { id: body.id as string, token: await mailedToken(email) };
    };
    const removed = await invited();
    await server.db.deleteFrom("organizationUsers").where("id", "=", removed.id).execute();
    const closed = await invited();
    const set = (status: "suspended" | "active") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", secondOrgId).execute();
    await set("suspended");
    expect((await accept(closed.token)).body.code).toBe("INVALID_INVITE");
    await set("active");
    for (const call of [accept, preview]) expect((await call(removed.token)).body.code).toBe("INVALID_INVITE");
    server.clock.advance(7 * DAY);
    for (const call of [accept, preview]) expect((await call(closed.token)).body.code).toBe("INVALID_INVITE");
    partnerAdmin = await server.signIn({ role: "Partner Admin", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", orgId });
  });

  it("allows ten failed acceptances an hour per address", async () => {
    server.clock.advance(DAY);
    partnerAdmin = await server.signIn({ role: "Partner Admin", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", orgId });
    const email = newEmail();
    await invite({ email });
    const token = await mailedToken(email);
    const answers = await Promise.all(Array.from({ length: 13 }, () => accept("guess", {}, "203.0.113.1")));
    expect(answers.filter((answer) => answer.body.code === "INVALID_INVITE")).toHaveLength(10);
    expect((await accept(token, {}, "203.0.113.1")).body.code).toBe("RATE_LIMITED");
    server.clock.advance(DAY / 12);
    expect((await accept(token, {}, "203.0.113.1")).status).toBe(200);
  });

  it("replays an invitation for its idempotency key and keeps its token out of database, audit entries and log", async () => {
    partnerAdmin = await server.signIn({ role: "Partner Admin", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", orgId });
    const email = newEmail();
    const headers = { "x-idempotency-key": "invite-once-1" };
    const first = await invite({ email }, orgAdmin, headers);
    const again = await invite({ email }, orgAdmin, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const token = await mailedToken(email);
    await expect
      .poll(
        async () =>
          (await server.db.selectFrom("mailOutbox").selectAll().where("status", "=", "queued").execute()).length,
      )
      .toBe(0);
    expect(await leaksInDatabase(server, { token, password: PASSWORD })).toEqual([]);
    expect(lines.join("")).not.toContain(token);
    expect(mailsTo(email)).toHaveLength(1);
  });
});

describe("without a mail server", () => {
  it("an invitation's link is shown to who invites", async () => {
    const server = await startTestServer("sqlite", {}, { realMail: true });
    try {
      const { orgIds } = await seedPartner(server, "acme", ["harbor"]);
      const { token } = await server.signIn({ role: "Org Admin", orgId: orgIds[0] as string });
      const body = { email: "guest@guest.example", name: "Guest", roleId: viewer };
      const made = await server.request("POST", "/users/invite", { token, body });
      expect(made.body.inviteEmailSent).toBe(false);
      const link = /^(.*)\/accept-invite#token=([A-Za-z0-9_-]{48})$/.exec(made.body.inviteUrl);
      expect(link?.[1]).toBe(server.url);
      const accepted = { token: link?.[2], password: PASSWORD };
      expect((await server.request("POST", "/auth/accept-invite", { body: accepted })).status).toBe(200);
    } finally {
      await server.stop();
    }
  });
});

describe.each(databases)("without a mail server on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let partnerAdmin: SignedInUser;
  let orgAdmin: SignedInUser;
  let foreignAdmin: SignedInUser;
  let count = 0;

  beforeAll(async () => {
    server = await startTestServer(database, {}, { realMail: true });
    const acme = await seedPartner(server, "acme", ["harbor"]);
    const other = await seedPartner(server, "other", ["foreign"]);
    partnerId = acme.partnerId;
    orgId = acme.orgIds[0] as string;
    partnerAdmin = await server.signIn({ role: "Partner Admin", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", orgId });
    foreignAdmin = await server.signIn({ role: "Org Admin", orgId: other.orgIds[0] as string });
  });
  afterAll(() => server?.stop());

  const newEmail = () => `shared-${++count}@guest.example`;
  const invite = (who: SignedInUser, body: object) =>
    server.request("POST", "/users/invite", { token: who.token, body: { name: "Guest", roleId: viewer, ...body } });
  const resend = (who: SignedInUser, body: object) =>
    server.request("POST", "/users/resend-invite", { token: who.token, body });

  it("no one sees a link that would open another tenant's membership as well", async () => {
    const email = newEmail();
    const mine = await invite(partnerAdmin, { email, roleId: technician, orgAccess: "all" });
    expect(mine.body.inviteUrl).toMatch(/^http/);
    const foreign = await invite(foreignAdmin, { email });
    expect(foreign).toMatchObject({ status: 201, body: { inviteEmailSent: false, inviteUrl: null } });
    expect((await resend(foreignAdmin, { userId: foreign.body.id })).body.inviteUrl).toBeNull();
    expect((await resend(partnerAdmin, { userId: mine.body.id })).body.inviteUrl).toBeNull();
    const admin = await server.signIn({ role: "System Admin" });
    const shown = await resend(admin, { userId: mine.body.id, partnerId });
    expect(shown.body.inviteUrl).toMatch(/^http/);
  });

  it("an organization's admin does not see a link that also makes a member of its partner", async () => {
    const email = newEmail();
    const { body } = await invite(orgAdmin, { email });
    expect(body.inviteUrl).toMatch(/^http/);
    await invite(partnerAdmin, { email, roleId: technician });
    expect((await resend(orgAdmin, { userId: body.id })).body.inviteUrl).toBeNull();
    expect((await resend(partnerAdmin, { userId: body.id, orgId })).body.inviteUrl).toMatch(/^http/);
    const selected = await server.signIn({
      role: "Partner Admin",
      partnerId,
      orgAccess: "selected",
      orgIds: [orgId],
    });
    expect((await resend(selected, { userId: body.id, orgId })).body.inviteUrl).toBeNull();
  });

  it("no one sees a link to more permissions or sites than their own", async () => {
    const siteId = await makeSite(server, orgId);
    const inviter = await server.signIn({ role: "inviter", orgId, permissions: ["users:invite"] });
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    const boss = await invite(orgAdmin, { email: newEmail(), roleId: builtInRoleId("Org Admin") });
    expect((await resend(inviter, { userId: boss.body.id })).body.code).toBe("ROLE_EXCEEDS_CALLER");
    // Whoever sends it again stands for it, so one that gives more would be worth nothing from then on.
    expect((await resend(confined, { userId: boss.body.id })).body.code).toBe("SITE_ACCESS_DENIED");
    const boundless = { role: "inviter", orgId, permissions: ["*:*"] };
    const equal = await server.signIn(boundless);
    expect((await resend(equal, { userId: boss.body.id })).body.inviteUrl).toMatch(/^http/);
    const local = await invite(confined, { email: newEmail(), siteIds: [siteId] });
    expect((await resend(confined, { userId: local.body.id })).body.inviteUrl).toMatch(/^http/);
  });

  it("the inviter's Host header chooses no address in the mail", async () => {
    const email = newEmail();
    const { hostname, port } = new URL(server.url);
    const { request } = await import("node:http");
    const headers = {
      host: "evil.example",
      "content-type": "application/json",
      authorization: `Bearer ${orgAdmin.token}`,
    };
    await new Promise<void>((resolve, reject) => {
      const asked = request(
        { hostname, port, path: "/api/v1/users/invite", method: "POST", headers },
        (response) => void response.resume().on("end", resolve),
      );
      asked.on("error", reject).end(JSON.stringify({ email, name: "Guest", roleId: viewer }));
    });
    const outbox = join(server.services.config.dataDir, "mail-outbox.ndjson");
    const mailed = () =>
      (existsSync(outbox) ? readFileSync(outbox, "utf8").split("\n") : []).find((line) => line.includes(email));
    await expect.poll(mailed, { timeout: 10_000 }).toMatch(/To accept and choose a password/);
    expect(mailed()).not.toContain("evil.example");
    expect(JSON.parse(mailed() as string).text).toMatch(/^[A-Za-z0-9_-]{48}$/m);
  });
});
