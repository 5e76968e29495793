import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainProvider } from "#fixtures/nouns/sign-in/sso-providers";
import { rescueAccount } from "#server/features/sign-in/passwords/rescue";
import { HOUR, MINUTE } from "#server/platform/clock";
import { jsonLog } from "#server/platform/log";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { leaksInDatabase } from "../../../test/leaks.ts";
import { enrol, logIn, PASSWORD, seedPerson } from "../../../test/people.ts";

const NEW = "Better-Horse-8";

describe.each(databases)("passwords on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let address = 0;
  const lines: string[] = [];

  beforeAll(async () => {
    const log = jsonLog("debug", (line) => lines.push(line));
    server = await startTestServer(database, { TRUST_PROXY_HEADERS: "true" }, { log });
    orgId = (await seedPartner(server, "acme", ["harbor"])).orgIds[0] as string;
  });
  afterAll(() => server?.stop());

  const person = () => seedPerson(server, { role: "Org Admin", orgId });
  const post = (path: string, body: object, options: { token?: string; headers?: Record<string, string> } = {}) =>
    server.request("POST", `/auth${path}`, { body, ...options });
  const forgot = (email: string, headers: Record<string, string> = {}) => {
    address += 1;
    return post("/forgot-password", { email }, { headers: { "x-forwarded-for": `203.0.113.${address}`, ...headers } });
  };
  const mailsTo = (email: string) => server.mails.filter((mail) => mail.to === email);
  const mailedToken = async (email: string, count = 1) => {
    await server.workJobs();
    await expect.poll(() => mailsTo(email).length, { timeout: 10_000 }).toBe(count);
    return /#token=(\S+)/.exec(mailsTo(email)[count - 1]?.text ?? "")?.[1] as string;
  };
  const jobsDone = () =>
    expect
      .poll(
        async () => (await server.db.selectFrom("jobs").select("id").where("status", "<>", "done").execute()).length,
        {
          timeout: 10_000,
        },
      )
      .toBe(0);
  const me = (token: string) => server.request("GET", "/users/me", { token });

  it("mails a token that sets a new password once, ends every session and keeps the second factor", async () => {
    const who = await person();
    const factor = await enrol(server, who.token);
    await forgot(who.email.toUpperCase());
    const token = await mailedToken(who.email);
    expect(token).toMatch(/^[A-Za-z0-9_-]{48}$/);
    expect(mailsTo(who.email)[0]?.text).toContain(`${server.url}/reset-password#token=${token}`);
    expect((await post("/reset-password", { token, password: "short" })).body.code).toBe("WEAK_PASSWORD");
    const answers = await Promise.all([1, 2, 3].map(() => post("/reset-password", { token, password: NEW })));
    expect(answers.map((answer) => answer.body.code ?? "set").sort()).toEqual([
      "INVALID_TOKEN",
      "INVALID_TOKEN",
      "set",
    ]);
    expect((await me(factor.token)).status).toBe(401);
    expect((await post("/refresh", { refreshToken: factor.refreshToken })).body.code).toBe("INVALID_REFRESH_TOKEN");
    expect((await logIn(server, who.email, PASSWORD)).status).toBe(401);
    expect((await logIn(server, who.email, NEW)).body.mfaRequired).toBe(true);
    const entry = (await auditEntries(server, "user.password.reset")).find(
      (one) => one.actorId === who.userId && one.result === "success",
    );
    expect(entry).toMatchObject({ orgId, resourceId: who.userId });
  });

  it("answers the same for every address, and mails only who can use the link", async () => {
    const partner = await seedPartner(server, `closed-${database}`, ["shut"]);
    const shut = await seedPerson(server, { role: "Org Admin", orgId: partner.orgIds[0] as string });
    await server.db.updateTable("partners").set({ status: "suspended" }).where("id", "=", partner.partnerId).execute();
    const disabled = await person();
    const invited = await server.signIn({ role: "Org Admin", orgId });
    await server.db.updateTable("users").set({ status: "invited" }).where("id", "=", invited.userId).execute();
    await server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", disabled.userId).execute();
    const known = await person();
    const emails = [known.email, "nobody@unknown.example", shut.email, disabled.email, invited.email];
    const answers = new Set<string>();
    for (const email of emails) {
      const { status, body } = await forgot(email);
      answers.add(JSON.stringify([status, body]));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain('[200,{"success":true,"message":');
    await mailedToken(known.email);
    await jobsDone();
    for (const email of emails.slice(1)) expect(mailsTo(email)).toEqual([]);
  });

  it("sets the first password of who has none: an answered mail proves the address, and frees it of others' setups", async () => {
    const { email, userId, token } = await server.signIn({ role: "Org Admin", orgId });
    await server.db
      .updateTable("users")
      .set({ emailVerifiedAt: null, mfaSecret: "set up by a provider" })
      .where("id", "=", userId)
      .execute();
    await forgot(email);
    const answer = await post("/reset-password", { token: await mailedToken(email), password: NEW });
    expect(answer.status).toBe(200);
    expect((await server.request("GET", "/users/me", { token })).status).toBe(401);
    expect((await logIn(server, email, NEW)).body).toMatchObject({ mfaRequired: false, user: { mfaEnabled: false } });
    const row = await server.db.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
    expect(row).toMatchObject({ emailVerifiedAt: server.clock.now(), mfaSecret: null });
  });

  it("ends an older link with a newer one, and every link after an hour", async () => {
    const { email } = await person();
    await forgot(email);
    const first = await mailedToken(email, 1);
    await forgot(email);
    const second = await mailedToken(email, 2);
    expect((await post("/reset-password", { token: first, password: NEW })).body.code).toBe("INVALID_TOKEN");
    server.clock.advance(HOUR);
    expect((await post("/reset-password", { token: second, password: NEW })).body.code).toBe("INVALID_TOKEN");
    expect((await post("/reset-password", { token: "nonsense", password: NEW })).body.code).toBe("INVALID_TOKEN");
  });

  it("lifts the lock of wrong passwords", async () => {
    const { email, userId } = await person();
    const lockedUntil = new Date(server.clock.nowMs() + 5 * MINUTE).toISOString();
    await server.db.updateTable("users").set({ lockedUntil }).where("id", "=", userId).execute();
    await forgot(email);
    await post("/reset-password", { token: await mailedToken(email), password: NEW });
    expect((await logIn(server, email, NEW)).status).toBe(200);
  });

  it("sends three an hour per address and says nothing about it", async () => {
    const { email } = await person();
    const headers = { "x-forwarded-for": "198.51.100.1" };
    for (let n = 0; n < 5; n += 1) expect((await forgot(email, headers)).status).toBe(200);
    await mailedToken(email, 3);
    await jobsDone();
    expect(mailsTo(email)).toHaveLength(3);
  });

  it("never lets the asker's Host header choose where the token is sent", async () => {
    const { email } = await person();
    const { hostname, port } = new URL(server.url);
    const { request } = await import("node:http");
    await new Promise<void>((resolve, reject) => {
      const asked = request(
        {
          hostname,
          port,
          path: "/api/v1/auth/forgot-password",
          method: "POST",
          headers: { host: "evil.example", "content-type": "application/json" },
        },
        (response) => response.resume().on("end", resolve),
      );
      asked.on("error", reject).end(JSON.stringify({ email }));
    });
    await expect.poll(() => mailsTo(email).length, { timeout: 10_000 }).toBe(1);
    expect(mailsTo(email)[0]?.text).not.toContain("evil.example");
    expect(mailsTo(email)[0]?.text).toMatch(/^[A-Za-z0-9_-]{48}$/m);
  });

  it("changes the password, ends the other sessions and goes on with new tokens", async () => {
    const who = await person();
    const other = (await logIn(server, who.email)).body;
    const change = (body: object, token = who.token) => post("/change-password", body, { token });
    expect((await change({ currentPassword: "Wrong-Horse-7", newPassword: NEW })).body.code).toBe("INVALID_PASSWORD");
    const weak = await change({ currentPassword: PASSWORD, newPassword: "alllowercase1" });
    expect(weak.body).toMatchObject({ code: "WEAK_PASSWORD", details: [{ path: "newPassword" }] });
    const answer = await change({ currentPassword: PASSWORD, newPassword: NEW });
    expect(answer.body).toMatchObject({ success: true, tokenType: "Bearer", expiresIn: 900 });
    expect((await me(answer.body.accessToken)).body.passwordChangedAt).toBe(server.clock.now());
    expect((await me(other.accessToken)).status).toBe(401);
    expect((await post("/refresh", { refreshToken: answer.body.refreshToken })).status).toBe(200);
    expect((await logIn(server, who.email, NEW)).status).toBe(200);
    const entry = (await auditEntries(server, "user.password.change")).filter((one) => one.actorId === who.userId);
    expect(entry.map((one) => one.result)).toEqual(["denied", "success"]);
  });

  it("lets one of two parallel changes win", async () => {
    const who = await person();
    const answers = await Promise.all(
      ["Parallel-Horse-1", "Parallel-Horse-2"].map((newPassword) =>
        post("/change-password", { currentPassword: PASSWORD, newPassword }, { token: who.token }),
      ),
    );
    expect(answers.map((answer) => answer.body.code ?? "changed").sort()).toEqual(["INVALID_PASSWORD", "changed"]);
  });

  it("refuses to change a password that does not exist", async () => {
    const { token } = await server.signIn({ role: "Org Admin", orgId });
    const answer = await post("/change-password", { currentPassword: "x", newPassword: NEW }, { token });
    expect(answer.body.code).toBe("PASSWORD_LOGIN_UNAVAILABLE");
  });

  it("keeps passwords and reset tokens out of database, audit entries and log", async () => {
    const who = await person();
    await forgot(who.email);
    const token = await mailedToken(who.email);
    await jobsDone();
    const planted = "Planted-Secret-42";
    await post("/reset-password", { token, password: planted });
    const { accessToken } = (await logIn(server, who.email, planted)).body;
    await post(
      "/change-password",
      { currentPassword: planted, newPassword: "Planted-Other-43" },
      { token: accessToken },
    );
    await post(
      "/change-password",
      { currentPassword: "Planted-Wrong-44", newPassword: planted },
      { token: accessToken },
    );
    await forgot(who.email);
    const unused = await mailedToken(who.email, 2);
    await jobsDone();
    const secrets = { token, unused, planted, other: "Planted-Other-43", wrong: "Planted-Wrong-44" };
    expect(await leaksInDatabase(server, secrets)).toEqual([]);
    for (const [name, secret] of Object.entries(secrets)) expect(lines.join(""), name).not.toContain(secret);
  });

  it("a rescue sets a password where single sign-on is enforced, for one sign-in, and is told and recorded", async () => {
    const closed = await seedPartner(server, `enforced-${database}`, ["enforced"]);
    const orgId = closed.orgIds[0] as string;
    const boss = await server.signIn({ role: "Partner Admin", partnerId: closed.partnerId });
    const only = await seedPerson(server, { role: "Org Admin", orgId });
    const id = server.services.random.uuid();
    const enforcing = {
      ...plainProvider(server.clock.now()),
      id,
      orgId,
      partnerId: null,
      createdBy: null,
      enforceSso: true,
    };
    await server.db.insertInto("ssoProviders").values(enforcing).execute();
    expect(await rescueAccount(server.services, { email: "nobody@x.example", clearMfa: true })).toBeUndefined();
    const unproven = { mfaSecret: "lost", emailVerifiedAt: null };
    await server.db.updateTable("users").set(unproven).where("id", "=", only.userId).execute();
    const token = (await rescueAccount(server.services, { email: only.email, clearMfa: true })) as string;
    expect((await logIn(server, only.email)).status).toBe(401);
    expect((await post("/reset-password", { token, password: NEW })).status).toBe(200);
    expect((await post("/reset-password", { token, password: NEW })).body.code).toBe("INVALID_TOKEN");
    const from = (address: string) => logIn(server, only.email, NEW, { "x-forwarded-for": address });
    const atOnce = await Promise.all(["203.0.113.201", "203.0.113.202", "203.0.113.203"].map(from));
    expect(atOnce.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    const signedIn = atOnce.find(({ status }) => status === 200);
    expect(signedIn?.body.user).toMatchObject({ orgId, mfaEnabled: false });
    expect((await from("203.0.113.204")).status).toBe(401);
    const sessions = server.db.selectFrom("sessions").select("absoluteExpiresAt").where("userId", "=", only.userId);
    const [session] = await sessions.where("revokedAt", "is", null).execute();
    expect(session?.absoluteExpiresAt).toBe(new Date(server.clock.nowMs() + 12 * HOUR).toISOString());
    // The link was printed on the host: nobody answered a mail.
    const person = server.db.selectFrom("users").select("emailVerifiedAt").where("id", "=", only.userId);
    expect(await person.executeTakeFirst()).toEqual({ emailVerifiedAt: null });
    expect((await auditEntries(server, "sso.break_glass.login")).map(({ actorId }) => actorId)).toEqual([only.userId]);
    const resets = await auditEntries(server, "user.mfa_reset");
    expect(resets.map(({ orgId: owner, partnerId: over, resourceId }) => [owner, over, resourceId])).toEqual([
      [null, null, only.userId],
    ]);
    await jobsDone();
    for (const { email } of [boss, only])
      expect(mailsTo(email).map(({ subject }) => subject)).toContain("An account was rescued on the server");
    expect(server.mails.map(({ text }) => text).join()).not.toContain(token);
  });
});
