import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { totpCode } from "#server/features/sign-in/mfa/rules";
import { MINUTE, SECOND } from "#server/platform/clock";
import { jsonLog } from "#server/platform/log";
import { auditEntries } from "../../../test/audit-entries.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { leaksInDatabase } from "../../../test/leaks.ts";
import { enrol, freshCode, logIn, PASSWORD, seedPerson } from "../../../test/people.ts";

describe.each(databases)("mfa on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let partnerId: string;
  const lines: string[] = [];

  beforeAll(async () => {
    server = await startTestServer(database, {}, { log: jsonLog("debug", (line) => lines.push(line)) });
    const seeded = await seedPartner(server, "acme", ["harbor"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
  });
  afterAll(() => server?.stop());

  type Tenant = { partnerId: string; orgId: string };
  const demandIn = (table: "partners" | "organizations", id: string) =>
    server.db
      .updateTable(table)
      .set({ settings: { security: { requireMfa: true } } })
      .where("id", "=", id);
  const person = () => seedPerson(server, { role: "Org Admin", orgId, mfa: false });
  const post = (path: string, body: object, token?: string) =>
    server.request("POST", `/auth${path}`, { body, ...(token === undefined ? {} : { token }) });
  const verify = (tempToken: string, code: string) => post("/mfa/verify", { tempToken, code });
  const me = (token: string) => server.request("GET", "/users/me", { token });
  const tempToken = async (email: string): Promise<string> => (await logIn(server, email)).body.tempToken;
  const enrolled = async () => {
    const who = await person();
    return { ...who, ...(await enrol(server, who.token)) };
  };

  it("sets up a factor that this session then has proved, and ends the other sessions", async () => {
    const who = await person();
    const other = (await logIn(server, who.email)).body;
    const setup = await post("/mfa/setup", { currentPassword: PASSWORD }, who.token);
    expect(setup.body).toMatchObject({
      otpAuthUrl: expect.stringContaining(`secret=${setup.body.secret}`),
      qrCodeDataUrl: expect.stringMatching(/^data:image\/png;base64,/),
    });
    expect(setup.body.recoveryCodes).toHaveLength(10);
    expect((await me(who.token)).body).toMatchObject({ mfaEnabled: false, mfaMethod: null });
    const code = totpCode(setup.body.secret, server.clock.nowMs());
    const enabled = await post("/mfa/enable", { code }, who.token);
    expect(enabled.body).toMatchObject({ success: true, recoveryCodes: setup.body.recoveryCodes, tokenType: "Bearer" });
    expect((await me(enabled.body.accessToken)).body).toMatchObject({
      mfaEnabled: true,
      mfaMethod: "totp",
      mfaSatisfied: true,
    });
    expect((await me(other.accessToken)).status).toBe(401);
    expect((await post("/mfa/setup", { currentPassword: PASSWORD }, who.token)).body.code).toBe("MFA_ALREADY_ENABLED");
    expect((await post("/mfa/enable", { code }, who.token)).body.code).toBe("NO_PENDING_MFA_SETUP");
    const trail = await auditEntries(server, "auth.mfa.setup");
    expect(trail.find((entry) => entry.actorId === who.userId)).toMatchObject({ orgId, result: "success" });
  });

  it("needs the password to set up, and forgets a setup after ten minutes", async () => {
    const who = await person();
    expect((await post("/mfa/setup", {}, who.token)).body.code).toBe("INVALID_PASSWORD");
    expect((await post("/mfa/setup", { currentPassword: "Wrong-Horse-7" }, who.token)).body.code).toBe(
      "INVALID_PASSWORD",
    );
    expect((await post("/mfa/enable", { code: "123456" }, who.token)).body.code).toBe("NO_PENDING_MFA_SETUP");
    const { body } = await post("/mfa/setup", { currentPassword: PASSWORD }, who.token);
    expect((await post("/mfa/enable", { code: "000000" }, who.token)).body.code).toBe("INVALID_MFA_CODE");
    server.clock.advance(10 * MINUTE);
    const late = await post(
      "/mfa/enable",
      { code: totpCode(body.secret, server.clock.nowMs()) },
      (await logIn(server, who.email)).body.accessToken,
    );
    expect(late.body.code).toBe("NO_PENDING_MFA_SETUP");
    await server.db.updateTable("users").set({ passwordHash: null }).where("id", "=", who.userId).execute();
    const again = await server.signIn({ role: "Org Admin", orgId, mfa: false });
    expect((await server.request("POST", "/auth/mfa/setup", { token: again.token })).status).toBe(200);
  });

  it("limits guesses of the password by a signed-in user", async () => {
    const who = await person();
    const answers = await Promise.all(
      Array.from({ length: 9 }, () => post("/mfa/setup", { currentPassword: "Wrong-Horse-7" }, who.token)),
    );
    expect(answers.filter((answer) => answer.body.code === "INVALID_PASSWORD")).toHaveLength(5);
    expect((await post("/mfa/setup", { currentPassword: PASSWORD }, who.token)).body.code).toBe("RATE_LIMITED");
  });

  it("signs an enrolled user in with the second factor", async () => {
    const who = await enrolled();
    const first = await logIn(server, who.email);
    expect(first.body).toMatchObject({ mfaRequired: true, mfaMethods: ["totp", "recovery"], expiresIn: 300 });
    expect(first.body.accessToken).toBeUndefined();
    const code = freshCode(server, who.secret);
    const second = await verify(first.body.tempToken, code);
    expect(second.body).toMatchObject({ mfaRequired: false, user: { id: who.userId, mfaEnabled: true } });
    expect((await me(second.body.accessToken)).body.mfaSatisfied).toBe(true);
    expect((await verify(first.body.tempToken, freshCode(server, who.secret))).body.code).toBe("MFA_SESSION_EXPIRED");
    expect((await verify(await tempToken(who.email), code)).body.code).toBe("INVALID_MFA_CODE");
    const logins = (await auditEntries(server, "user.login")).filter((entry) => entry.actorId === who.userId);
    expect(logins).toMatchObject([{ orgId, details: { mfa: true, factor: "totp" } }]);
    const told = (await eventsOf(server.db, who.userId)).filter(({ kind }) => kind === "user.login");
    expect(told, "the password alone is no sign-in").toMatchObject([
      { orgId, data: { method: "password", mfa: true } },
    ]);
    await expect
      .poll(async () => (await auditEntries(server, "user.login.failed")).filter((one) => one.actorId === who.userId))
      .toMatchObject([
        { details: { reason: "mfa_session_expired" } },
        { result: "denied", details: { reason: "mfa_failed" } },
      ]);
  });

  it("keeps the MFA state of a session over refreshes", async () => {
    const who = await enrolled();
    const { body } = await verify(await tempToken(who.email), freshCode(server, who.secret));
    const refreshed = await post("/refresh", { refreshToken: body.refreshToken });
    expect((await me(refreshed.body.accessToken)).body.mfaSatisfied).toBe(true);
  });

  it("lets one of two parallel verifications with the same code win", async () => {
    const who = await enrolled();
    const temps = [await tempToken(who.email), await tempToken(who.email)];
    const code = freshCode(server, who.secret);
    const answers = await Promise.all(temps.map((temp) => verify(temp, code)));
    expect(answers.map((answer) => answer.body.code ?? "signed in").sort()).toEqual(["INVALID_MFA_CODE", "signed in"]);
    const again = await tempToken(who.email);
    const next = freshCode(server, who.secret);
    const same = await Promise.all([verify(again, next), verify(again, next), verify(again, next)]);
    expect(same.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(same.every((answer) => answer.status < 500)).toBe(true);
  });

  it("takes a recovery code once, also when it comes twice at the same moment", async () => {
    const who = await enrolled();
    const [code, another] = who.recoveryCodes as [string, string];
    const temps = [await tempToken(who.email), await tempToken(who.email)];
    const answers = await Promise.all(temps.map((temp) => verify(temp, code.toLowerCase())));
    expect(answers.map((answer) => answer.body.code ?? "signed in").sort()).toEqual(["INVALID_MFA_CODE", "signed in"]);
    expect((await verify(await tempToken(who.email), code)).body.code).toBe("INVALID_MFA_CODE");
    const stepUp = await post("/mfa/step-up", { code: another, method: "recovery" }, who.token);
    expect(stepUp.status).toBe(200);
    const used = (await auditEntries(server, "auth.mfa.recovery_code.used")).filter(
      (one) => one.actorId === who.userId,
    );
    expect(used).toMatchObject([{ orgId }, { orgId }]);
  });

  it("ends a temporary token after five wrong codes, five minutes, or a change of factor, password or status", async () => {
    const who = await enrolled();
    const spent = await tempToken(who.email);
    const wrong = await Promise.all(Array.from({ length: 8 }, () => verify(spent, "000000")));
    const codes = wrong.map((answer) => answer.body.code);
    expect(codes.filter((code) => code === "INVALID_MFA_CODE")).toHaveLength(5);
    expect((await verify(spent, freshCode(server, who.secret))).body.code).toBe("MFA_SESSION_EXPIRED");
    const limited = await tempToken(who.email);
    expect((await verify(limited, freshCode(server, who.secret))).body.code).toBe("RATE_LIMITED");
    server.clock.advance(6 * MINUTE);
    const old = await tempToken(who.email);
    server.clock.advance(300 * SECOND);
    expect((await verify(old, freshCode(server, who.secret))).body.code).toBe("MFA_SESSION_EXPIRED");
    const beforeStatus = await tempToken(who.email);
    const set = (change: object) => server.db.updateTable("users").set(change).where("id", "=", who.userId).execute();
    await set({ status: "disabled" });
    expect((await verify(beforeStatus, freshCode(server, who.secret))).body.code).toBe("MFA_SESSION_EXPIRED");
    await set({ status: "active" });
    const session = (await verify(await tempToken(who.email), freshCode(server, who.secret))).body;
    const beforePassword = await tempToken(who.email);
    const changed = await post(
      "/change-password",
      { currentPassword: PASSWORD, newPassword: "Other-Horse-8" },
      session.accessToken,
    );
    expect(changed.status).toBe(200);
    expect((await verify(beforePassword, freshCode(server, who.secret))).body.code).toBe("MFA_SESSION_EXPIRED");
    const beforeFactor = (await logIn(server, who.email, "Other-Horse-8")).body.tempToken;
    const off = { code: freshCode(server, who.secret), currentPassword: "Other-Horse-8" };
    expect((await post("/mfa/disable", off, changed.body.accessToken)).body).toEqual({ success: true });
    expect((await verify(beforeFactor, freshCode(server, who.secret))).body.code).toBe("MFA_SESSION_EXPIRED");
    expect((await verify("unknown", "123456")).body.code).toBe("MFA_SESSION_EXPIRED");
  });

  it("steps a session up, after which its older refresh token is refused", async () => {
    const who = await enrolled();
    await server.db.updateTable("sessions").set({ mfaVerifiedAt: null }).where("id", "=", who.sessionId).execute();
    const codes = { currentPassword: PASSWORD };
    expect((await post("/mfa/recovery-codes", codes, who.token)).body.code).toBe("MFA_REQUIRED");
    expect((await post("/mfa/step-up", { code: "000000" }, who.token)).body.code).toBe("INVALID_MFA_CODE");
    const up = await post("/mfa/step-up", { code: freshCode(server, who.secret) }, who.token);
    expect(up.body).toMatchObject({ tokenType: "Bearer", expiresIn: 900 });
    expect((await me(up.body.accessToken)).body.mfaSatisfied).toBe(true);
    expect((await post("/refresh", { refreshToken: who.refreshToken })).body.code).toBe("INVALID_REFRESH_TOKEN");
    expect((await post("/refresh", { refreshToken: up.body.refreshToken })).status).toBe(200);
    const own = (entry: { actorId: string | null }) => entry.actorId === who.userId;
    expect((await auditEntries(server, "auth.mfa.stepup.granted")).filter(own)).toHaveLength(1);
    await expect
      .poll(async () => (await auditEntries(server, "auth.mfa.stepup.failed")).filter(own))
      .toMatchObject([{ result: "denied", orgId }]);
    const plain = await person();
    expect((await post("/mfa/step-up", { code: "123456" }, plain.token)).body.code).toBe("MFA_NOT_ENABLED");
  });

  it("limits wrong codes per user over every way in, and only wrong ones", async () => {
    const who = await enrolled();
    for (let n = 0; n < 6; n += 1) {
      const answer = await post("/mfa/step-up", { code: freshCode(server, who.secret) }, who.token);
      expect(answer.status, `success ${n}`).toBe(200);
    }
    const temp = await tempToken(who.email);
    for (let n = 0; n < 3; n += 1) await verify(temp, "000000");
    for (let n = 0; n < 2; n += 1) await post("/mfa/step-up", { code: "000000" }, who.token);
    const limited = await post("/mfa/step-up", { code: totpCode(who.secret, server.clock.nowMs()) }, who.token);
    expect(limited.body.code).toBe("RATE_LIMITED");
    expect(limited.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  it("replaces all recovery codes", async () => {
    const who = await enrolled();
    expect((await post("/mfa/recovery-codes", {}, who.token)).body.code).toBe("INVALID_PASSWORD");
    const { body } = await post("/mfa/recovery-codes", { currentPassword: PASSWORD }, who.token);
    expect(body.recoveryCodes).toHaveLength(10);
    const old = who.recoveryCodes[0] as string;
    expect((await post("/mfa/step-up", { code: old }, who.token)).body.code).toBe("INVALID_MFA_CODE");
    expect((await post("/mfa/step-up", { code: body.recoveryCodes[0] }, who.token)).status).toBe(200);
  });

  it("answers a request sent again with the same secrets, and makes none twice", async () => {
    const who = await person();
    const keyed = (path: string, body: object, token: string) =>
      server.request("POST", `/auth/mfa${path}`, {
        body,
        token,
        headers: { "x-idempotency-key": `${path}-${who.userId}` },
      });
    const twice = async (path: string, body: object, token = who.token) => {
      const first = await keyed(path, body, token);
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      const again = await keyed(path, body, token);
      expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([first.body, "true"]);
      return first.body;
    };
    const setup = await twice("/setup", { currentPassword: PASSWORD });
    const enabled = await twice("/enable", { code: totpCode(setup.secret, server.clock.nowMs()) });
    expect(enabled.recoveryCodes).toEqual(setup.recoveryCodes);
    const codes = await twice("/recovery-codes", { currentPassword: PASSWORD }, enabled.accessToken);
    const used = await post("/mfa/step-up", { code: codes.recoveryCodes[0] }, enabled.accessToken);
    expect(used.status).toBe(200);
    // Whoever does not know the password is refused, however often the request was answered before.
    const changed = await post(
      "/change-password",
      { currentPassword: PASSWORD, newPassword: "Other-Horse-9" },
      used.body.accessToken,
    );
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    const refused = await keyed("/recovery-codes", { currentPassword: PASSWORD }, changed.body.accessToken);
    expect([refused.status, refused.body.code]).toEqual([401, "INVALID_PASSWORD"]);
    expect(JSON.stringify(refused.body)).not.toContain(codes.recoveryCodes[1]);
  });

  describe("sent again", () => {
    const keyed = (path: string, body: object, token: string) =>
      server.request("POST", `/auth/mfa${path}`, { body, token, headers: { "x-idempotency-key": "sent-again-1" } });

    it("tells no secret to whoever does not know the password, however often it is tried", async () => {
      const who = await person();
      const old = { currentPassword: PASSWORD };
      const { secret } = (await keyed("/setup", old, who.token)).body;
      const changed = await post("/change-password", { ...old, newPassword: "Other-Horse-9" }, who.token);
      expect(changed.status, JSON.stringify(changed.body)).toBe(200);
      const { accessToken } = (await post("/login", { email: who.email, password: "Other-Horse-9" })).body;
      const statuses: number[] = [];
      for (let tried = 0; tried < 7; tried += 1) {
        const answer = await keyed("/setup", old, accessToken ?? who.token);
        statuses.push(answer.status);
        expect(JSON.stringify(answer.body)).not.toContain(secret);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    });

    it("shows the secret of a factor no more once it is on, and gives its tokens to no other session", async () => {
      const who = await person();
      const { secret } = (await keyed("/setup", { currentPassword: PASSWORD }, who.token)).body;
      const proof = { code: totpCode(secret, server.clock.nowMs()) };
      const enabled = await keyed("/enable", proof, who.token);
      expect(enabled.status).toBe(200);
      const late = await keyed("/setup", { currentPassword: PASSWORD }, who.token);
      expect([late.status, late.body.code]).toEqual([400, "MFA_ALREADY_ENABLED"]);
      server.clock.advance(30_000);
      const other = await verify(await tempToken(who.email), totpCode(secret, server.clock.nowMs()));
      expect(other.status).toBe(200);
      const taken = await keyed("/enable", proof, other.body.accessToken);
      expect([taken.status, taken.body.code]).toEqual([400, "NO_PENDING_MFA_SETUP"]);
      expect((await keyed("/enable", proof, who.token)).body).toEqual(enabled.body);
    });
  });

  it.each([
    ["partner", (at: Tenant) => demandIn("partners", at.partnerId)],
    ["organization", (at: Tenant) => demandIn("organizations", at.orgId)],
    ["role", (at: Tenant) => server.db.updateTable("roles").set({ forceMfa: true }).where("orgId", "=", at.orgId)],
  ])("holds whoever has no factor where the %s demands one, until it is set up", async (where, demand) => {
    const strict = await seedPartner(server, `strict-${where}`, [`strict-${where}`]);
    const at = { partnerId: strict.partnerId, orgId: strict.orgIds[0] as string };
    const who = await seedPerson(server, {
      role: "reader",
      permissions: ["devices:read"],
      orgId: at.orgId,
      mfa: false,
    });
    const devices = (token: string) => server.request("GET", "/devices", { token });
    expect((await devices(who.token)).status).toBe(200);
    await demand(at).execute();
    const held = [
      await devices(who.token),
      await server.request("PATCH", "/users/me", { ...who, body: { name: "x" } }),
    ];
    for (const { status, body } of held) expect([status, body.code]).toEqual([428, "MFA_ENROLLMENT_REQUIRED"]);
    expect((await me(who.token)).status).toBe(200);
    expect((await devices((await enrol(server, who.token)).token)).status).toBe(200);
  });

  it("turns the factor off with code and password, unless the tenant demands one", async () => {
    const who = await enrolled();
    const off = (body: object) => post("/mfa/disable", body, who.token);
    const code = freshCode(server, who.secret);
    expect((await off({ code })).body.code).toBe("INVALID_PASSWORD");
    expect((await off({ code: "000000", currentPassword: PASSWORD })).body.code).toBe("INVALID_MFA_CODE");
    const demand = (settings: Record<string, unknown>) =>
      server.db.updateTable("partners").set({ settings }).where("id", "=", partnerId).execute();
    await demand({ security: { requireMfa: true } });
    expect((await off({ code, currentPassword: PASSWORD })).body.code).toBe("MFA_REQUIRED_BY_POLICY");
    const newcomer = await person();
    expect((await logIn(server, newcomer.email)).body).toMatchObject({
      mfaRequired: false,
      mfaEnrollmentRequired: true,
    });
    await demand({});
    expect((await off({ code, currentPassword: PASSWORD })).body).toEqual({ success: true });
    expect((await me(who.token)).body).toMatchObject({ mfaEnabled: false, mfaSatisfied: false });
    const login = await logIn(server, who.email);
    expect(login.body).toMatchObject({ mfaRequired: false, mfaEnrollmentRequired: false });
    expect((await off({ code, currentPassword: PASSWORD })).body.code).toBe("MFA_REQUIRED");
  });

  it("keeps secrets, codes and tokens out of database, audit entries and log", async () => {
    const who = await enrolled();
    const pending = await person();
    const setup = (await post("/mfa/setup", { currentPassword: PASSWORD }, pending.token)).body;
    const temp = await tempToken(who.email);
    const waiting = await tempToken(who.email);
    const { body } = await verify(temp, freshCode(server, who.secret));
    const secrets = {
      secret: who.secret,
      recovery: who.recoveryCodes[3] as string,
      pendingSecret: setup.secret,
      pendingRecovery: setup.recoveryCodes[0],
      tempToken: waiting,
      accessToken: body.accessToken,
      refreshToken: body.refreshToken,
      password: PASSWORD,
    };
    expect(await leaksInDatabase(server, secrets)).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
    for (const [name, secret] of Object.entries(secrets)) expect(lines.join(""), name).not.toContain(secret);
  });
});
