import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainMembership } from "#fixtures/nouns/people/users";
import { purgeSessions } from "#server/features/sign-in/core/purge-sessions";
import { DAY, MINUTE, SECOND } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { logIn, PASSWORD, seedPerson } from "../../../test/people.ts";

describe.each(databases)("sessions on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let address = 0;

  beforeAll(async () => {
    server = await startTestServer(database, { TRUST_PROXY_HEADERS: "true" });
    const seeded = await seedPartner(server, "acme", ["harbor"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
  });
  afterAll(() => server?.stop());

  /** Failures count per address: each test signs in from one of its own. */
  const from = () => {
    address += 1;
    return { "x-forwarded-for": `203.0.113.${address}` };
  };
  const person = (user: Partial<Parameters<typeof seedPerson>[1]> = {}) =>
    seedPerson(server, { role: "Org Admin", orgId, ...user });
  const signIn = async (email: string) => (await logIn(server, email, PASSWORD, from())).body;
  const refresh = (refreshToken: string) => server.request("POST", "/auth/refresh", { body: { refreshToken } });
  const me = (token: string) => server.request("GET", "/users/me", { token });
  const lastFailure = async (email: string) =>
    (await auditEntries(server, "user.login.failed")).findLast((entry) => entry.actorEmail === email);

  it("signs in with a token pair and records it in the chain of the membership", async () => {
    const { email, userId } = await person();
    const answer = await logIn(server, email.toUpperCase(), PASSWORD, from());
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      mfaRequired: false,
      mfaEnrollmentRequired: false,
      tokenType: "Bearer",
      expiresIn: 900,
      user: { id: userId, email, scope: "organization", orgId, partnerId, mfaEnabled: false },
    });
    expect(answer.body.refreshToken).toMatch(/^rt_[A-Za-z0-9_-]{43}$/);
    expect((await me(answer.body.accessToken)).body).toMatchObject({ id: userId, lastLoginAt: server.clock.now() });
    const entry = (await auditEntries(server, "user.login")).find((one) => one.actorId === userId);
    expect(entry).toMatchObject({ orgId, partnerId: null, result: "success", resourceId: userId });
    expect(entry?.details).toMatchObject({ method: "password", mfa: false });
  });

  it("selects system, then the oldest partner, then the oldest open organization", async () => {
    const { email, userId } = await person();
    const before = await signIn(email);
    expect(before.user.scope).toBe("organization");
    const now = server.clock.now();
    const role = await server.db
      .selectFrom("roles")
      .select("id")
      .where("name", "=", "Partner Viewer")
      .executeTakeFirst();
    await server.db
      .insertInto("partnerUsers")
      .values({
        id: server.services.random.uuid(),
        partnerId,
        userId,
        roleId: role?.id as string,
        orgAccess: "none",
        ...plainMembership(now),
      })
      .execute();
    expect((await signIn(email)).user).toMatchObject({ scope: "partner", partnerId, orgId: null });
    await server.db.updateTable("users").set({ isPlatformAdmin: true }).where("id", "=", userId).execute();
    expect((await signIn(email)).user).toMatchObject({ scope: "system", partnerId: null, orgId: null });
  });

  it("refuses every sign-in alike, after at least 200 ms, and gives the reason only in the audit log (C35)", async () => {
    const other = await seedPartner(server, `closed-${database}`, ["open"]);
    const open = other.orgIds[0] as string;
    const shut = (await seedPartner(server, `shut-${database}`, ["shut"])).orgIds[0] as string;
    const set = (table: "organizations" | "partners", id: string, status: "suspended") =>
      server.db.updateTable(table).set({ status }).where("id", "=", id).execute();
    const cases: [string, string, string | undefined][] = [["nobody@unknown.example", PASSWORD, undefined]];
    const wrong = await person();
    cases.push([wrong.email, "Wrong-Horse-7", "wrong_password"]);
    for (const status of ["invited", "disabled"] as const) {
      const { email, userId } = await person();
      await server.db.updateTable("users").set({ status }).where("id", "=", userId).execute();
      cases.push([email, PASSWORD, `user_${status}`]);
    }
    const ofShut = await person({ orgId: shut });
    await set("organizations", shut, "suspended");
    cases.push([ofShut.email, PASSWORD, "organization_inactive"]);
    const ofOpen = await person({ orgId: open });
    const ofPartner = await seedPerson(server, { role: "Partner Admin", partnerId: other.partnerId });
    await set("partners", other.partnerId, "suspended");
    cases.push([ofOpen.email, PASSWORD, "partner_inactive"], [ofPartner.email, PASSWORD, "partner_inactive"]);
    const locked = await person();
    const lockedUntil = new Date(server.clock.nowMs() + MINUTE).toISOString();
    await server.db.updateTable("users").set({ lockedUntil }).where("id", "=", locked.userId).execute();
    cases.push([locked.email, PASSWORD, "account_locked"]);
    const answers = new Set<string>();
    for (const [email, password, reason] of cases) {
      const start = performance.now();
      const answer = await logIn(server, email, password, from());
      expect(performance.now() - start, email).toBeGreaterThanOrEqual(195);
      answers.add(JSON.stringify([answer.status, answer.body]));
      await expect.poll(async () => (await lastFailure(email))?.details.reason, { message: email }).toBe(reason);
    }
    expect([...answers]).toEqual([
      JSON.stringify([401, { error: "Invalid email or password", code: "INVALID_CREDENTIALS" }]),
    ]);
    expect(await lastFailure(ofPartner.email)).toMatchObject({
      partnerId: other.partnerId,
      orgId: null,
      result: "denied",
    });
    expect(await lastFailure(ofOpen.email)).toMatchObject({ orgId: open, actorId: ofOpen.userId });
  });

  it("lets users of a pending partner sign in, and holds them with the partner guard", async () => {
    const pending = await seedPartner(server, `pending-${database}`);
    const { email } = await seedPerson(server, { role: "Partner Admin", partnerId: pending.partnerId });
    await server.db.updateTable("partners").set({ status: "pending" }).where("id", "=", pending.partnerId).execute();
    const { accessToken } = await signIn(email);
    expect((await me(accessToken)).status).toBe(200);
    const held = await server.request("GET", "/orgs/organizations", { token: accessToken });
    expect(held.body).toMatchObject({ code: "PARTNER_INACTIVE", details: { status: "pending" } });
  });

  it("locks an account for five minutes after five wrong passwords in a row", async () => {
    const { email } = await person();
    for (let n = 0; n < 4; n += 1) await logIn(server, email, "Wrong-Horse-7", from());
    expect((await logIn(server, email, PASSWORD, from())).status).toBe(200);
    for (let n = 0; n < 5; n += 1) await logIn(server, email, "Wrong-Horse-7", from());
    expect((await logIn(server, email, PASSWORD, from())).status).toBe(401);
    await expect.poll(async () => (await lastFailure(email))?.details.reason).toBe("account_locked");
    server.clock.advance(5 * MINUTE);
    expect((await logIn(server, email, PASSWORD, from())).status).toBe(200);
  });

  it("counts parallel wrong passwords, so that a burst cannot pass the lock", async () => {
    const { email, userId } = await person();
    await Promise.all(Array.from({ length: 8 }, () => logIn(server, email, "Wrong-Horse-7", from())));
    const row = await server.db.selectFrom("users").select("lockedUntil").where("id", "=", userId).executeTakeFirst();
    expect(row?.lockedUntil).not.toBeNull();
  });

  it("answers 429 after five failures of an address with one email, and after thirty of an address", async () => {
    const headers = from();
    const { email } = await person();
    for (let n = 0; n < 5; n += 1) await logIn(server, email, "Wrong-Horse-7", headers);
    const over = await logIn(server, email, PASSWORD, headers);
    expect(over.body.code).toBe("RATE_LIMITED");
    expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0);
    const other = await person();
    expect((await logIn(server, other.email, PASSWORD, headers)).status).toBe(200);
    await Promise.all(
      Array.from({ length: 25 }, (_, n) => logIn(server, `nobody-${n}@unknown.example`, PASSWORD, headers)),
    );
    expect((await logIn(server, other.email, PASSWORD, headers)).body.code).toBe("RATE_LIMITED");
    server.clock.advance(6 * MINUTE);
    expect((await logIn(server, other.email, PASSWORD, headers)).status).toBe(200);
  });

  it("judges no more parallel guesses than the limit has, however many arrive at once", async () => {
    const { email } = await person();
    const headers = from();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => logIn(server, email, "Wrong-Password-1", headers)),
    );
    const counted = answers.map((answer) => answer.status).sort();
    expect(counted).toEqual([...new Array(5).fill(401), ...new Array(25).fill(429)]);
  });

  it("never counts a sign-in that succeeds", async () => {
    const { email } = await person();
    const headers = from();
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(server, email, PASSWORD, headers)));
    expect(answers.map((answer) => answer.status)).toEqual(new Array(8).fill(200));
  });

  it("rotates the refresh token within the session", async () => {
    const { email } = await person();
    const first = await signIn(email);
    const second = await refresh(first.refreshToken);
    expect(second.status).toBe(200);
    expect(second.body.refreshToken).not.toBe(first.refreshToken);
    expect((await me(second.body.accessToken)).status).toBe(200);
    const third = await refresh(second.body.refreshToken);
    expect(third.status).toBe(200);
    const { body } = await server.request("GET", "/auth/sessions", { token: third.body.accessToken });
    expect(body.data.filter((session: { current: boolean }) => session.current)).toHaveLength(1);
  });

  it("gives one of five parallel refreshes the pair and tells the others that they were raced (C24)", async () => {
    const { email } = await person();
    const { refreshToken } = await signIn(email);
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(refreshToken)));
    expect(answers.map((answer) => answer.body.code ?? "pair").sort()).toEqual([
      ...new Array(4).fill("REFRESH_RACED"),
      "pair",
    ]);
    const won = answers.find((answer) => answer.status === 200);
    expect((await me(won?.body.accessToken)).status).toBe(200);
    expect((await refresh(won?.body.refreshToken)).status).toBe(200);
  });

  it("ends the whole session when a spent token comes back, audited in the same moment", async () => {
    const { email, userId } = await person();
    const first = await signIn(email);
    const bystander = await signIn(email);
    const second = (await refresh(first.refreshToken)).body;
    server.clock.advance(10 * SECOND);
    expect((await refresh(first.refreshToken)).body.code).toBe("REFRESH_RACED");
    expect((await me(second.accessToken)).status).toBe(200);
    server.clock.advance(1);
    expect((await refresh(first.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
    expect((await me(second.accessToken)).status).toBe(401);
    expect((await refresh(second.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
    expect((await me(bystander.accessToken)).status).toBe(200);
    const entries = (await auditEntries(server, "auth.refresh.reuse_detected")).filter((one) => one.actorId === userId);
    expect(entries).toMatchObject([{ orgId, result: "denied", resourceId: userId }]);
  });

  it("refuses unknown and expired refresh tokens, and those of users who may not sign in", async () => {
    expect((await refresh(`rt_${"x".repeat(43)}`)).body.code).toBe("INVALID_REFRESH_TOKEN");
    const { email, userId } = await person();
    const idle = await signIn(email);
    server.clock.advance(7 * DAY);
    expect((await refresh(idle.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
    const disabled = await signIn(email);
    await server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", userId).execute();
    expect((await refresh(disabled.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
    await server.db.updateTable("users").set({ status: "active" }).where("id", "=", userId).execute();
    expect((await refresh(disabled.refreshToken)).status).toBe(200);
  });

  it("ends a session for good after thirty days of refreshing", async () => {
    const { email } = await person();
    let { refreshToken } = await signIn(email);
    for (let day = 0; day < 30; day += 6) {
      server.clock.advance(6 * DAY - 1);
      const next = await refresh(refreshToken);
      expect(next.status, `day ${day}`).toBe(200);
      refreshToken = next.body.refreshToken;
    }
    server.clock.advance(DAY);
    expect((await refresh(refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
  });

  it("lists the caller's own open sessions and ends one, or all", async () => {
    const { email, userId } = await person();
    await server.db.deleteFrom("sessions").where("userId", "=", userId).execute();
    const [a, b] = [await signIn(email), await signIn(email)];
    const list = await server.request("GET", "/auth/sessions", { token: a.accessToken });
    expect(list.body.data).toHaveLength(2);
    const other = list.body.data.find((session: { current: boolean }) => !session.current);
    expect(other).toMatchObject({ mfaVerified: false, ipAddress: expect.stringMatching(/^203\.0\.113\./) });
    const stranger = await signIn((await person()).email);
    const remove = (token: string) => server.request("DELETE", `/auth/sessions/${other.id}`, { token });
    expect((await remove(stranger.accessToken)).body.code).toBe("NOT_FOUND");
    expect((await remove(a.accessToken)).body).toEqual({ success: true });
    expect((await remove(a.accessToken)).body.code).toBe("NOT_FOUND");
    expect((await me(b.accessToken)).status).toBe(401);
    const c = await signIn(email);
    const out = await server.request("POST", "/auth/logout", { token: a.accessToken, body: { allSessions: true } });
    expect(out.body).toEqual({ success: true });
    for (const { accessToken } of [a, c]) expect((await me(accessToken)).status).toBe(401);
    expect((await refresh(c.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
  });

  it("ends only the current session on a plain logout", async () => {
    const { email } = await person();
    const [a, b] = [await signIn(email), await signIn(email)];
    expect((await server.request("POST", "/auth/logout", { token: a.accessToken })).status).toBe(200);
    expect((await me(a.accessToken)).status).toBe(401);
    expect((await me(b.accessToken)).status).toBe(200);
  });

  it("ends the session when a token comes back that was spent weeks ago", async () => {
    const { email } = await person();
    const first = await signIn(email);
    let latest = first;
    for (let week = 0; week < 3; week += 1) {
      server.clock.advance(6 * DAY);
      latest = (await refresh(latest.refreshToken)).body;
    }
    await purgeSessions(server.services);
    expect((await me(latest.accessToken)).status).toBe(200);
    expect((await refresh(first.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
    expect((await me(latest.accessToken)).status).toBe(401);
  });

  it("purges what can no longer be used and keeps what can", async () => {
    const { email } = await person();
    const old = await signIn(email);
    server.clock.advance(31 * DAY);
    const current = await signIn(email);
    await purgeSessions(server.services);
    expect((await refresh(old.refreshToken)).body.code).toBe("INVALID_REFRESH_TOKEN");
    expect((await refresh(current.refreshToken)).status).toBe(200);
    const left = await server.db
      .selectFrom("sessions")
      .select("id")
      .where("absoluteExpiresAt", "<=", server.clock.now())
      .execute();
    expect(left).toEqual([]);
  });
});
