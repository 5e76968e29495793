import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "#sdk/client";
import { memoryStore } from "#sdk/session";
import { totpCode } from "#server/features/sign-in/mfa/rules";
import { MINUTE } from "#server/platform/clock";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { enrol, freshCode, PASSWORD, seedPerson } from "../people.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

describe.each(databases)("signing in with a second factor, on %s", (database) => {
  let server: TestServer;
  let rmm: RmmProcess;
  let email: string;
  let secret: string;
  let recoveryCodes: string[];

  beforeAll(async () => {
    server = await startTestServer(database);
    rmm = rmmProcess({ RMM_SERVER: server.url });
    const { partnerId } = await seedPartner(server, "acme", ["acme-west"]);
    const person = await seedPerson(server, { role: "Partner Admin", partnerId });
    email = person.email;
    ({ secret, recoveryCodes } = await enrol(server, person.token));
  });
  afterAll(async () => {
    rmm.close();
    await server.stop();
  });

  const login = (stdin: string, ...more: string[]) =>
    rmm.run(["auth", "login", "--email", email, "--store", "file", "--password-stdin", ...more], { stdin });

  it("through the SDK: password, code, then calls that need the factor", async () => {
    const client = createClient({ baseUrl: server.url });
    await expect(client.sessions.login({ body: { email, password: "Wrong-Horse-7" } })).rejects.toMatchObject({
      code: "INVALID_CREDENTIALS",
      status: 401,
    });
    const answer = await client.sessions.login({ body: { email, password: PASSWORD } });
    if (!answer.mfaRequired) throw new Error("no second factor was asked for");
    const { tempToken } = answer;
    const wrong = { tempToken, code: "000000", method: "totp" } as const;
    await expect(client.mfa.verify({ body: wrong })).rejects.toMatchObject({ status: 401 });
    const tokens = await client.mfa.verify({ body: { ...wrong, code: freshCode(server, secret) } });
    await client.auth.adopt(tokens);
    expect(await client.users.me()).toMatchObject({ email, scope: "partner", mfaSatisfied: true });
    const site = { orgId: (await client.organizations.listAccessible().toArray())[0]!.id, name: "SDK site" };
    expect(await client.sites.create({ body: site })).toMatchObject({ name: "SDK site" });
  });

  it("through the SDK: many calls with an expired access token send one refresh, and a logout ends the session", async () => {
    const first = createClient({ baseUrl: server.url });
    const answer = await first.sessions.login({ body: { email, password: PASSWORD } });
    if (!answer.mfaRequired) throw new Error("no second factor was asked for");
    const code = recoveryCodes.pop() as string;
    const tokens = await first.mfa.verify({ body: { tempToken: answer.tempToken, code, method: "recovery" } });
    const sent: string[] = [];
    const store = memoryStore({ accessToken: tokens.accessToken, refreshToken: tokens.refreshToken });
    const hooks = { onRequest: ({ url }: { url: string }) => void sent.push(new URL(url).pathname) };
    const client = createClient({
      baseUrl: server.url,
      credentials: { store },
      hooks,
      now: () => server.clock.nowMs(),
    });
    server.clock.advance(16 * MINUTE);
    const reads = await Promise.all(Array.from({ length: 20 }, () => client.users.me()));
    expect(reads.every((me) => me.email === email)).toBe(true);
    expect(sent.filter((path) => path.endsWith("/auth/refresh"))).toHaveLength(1);
    const kept = await store.read();
    await client.sessions.logout();
    const after = createClient({ baseUrl: server.url, credentials: kept!, now: () => server.clock.nowMs() });
    await expect(after.users.me()).rejects.toMatchObject({ status: 401 });
  });

  it("through rmm: a wrong password or code exits 4, prints nothing on stdout and stores nothing", async () => {
    const wrong = await login("Wrong-Horse-7\n", "--json");
    expect(wrong).toMatchObject({ code: 4, stdout: "" });
    expect(JSON.parse(wrong.stderr).error).toMatchObject({ code: "INVALID_CREDENTIALS", status: 401 });
    const missing = await login(`${PASSWORD}\n`);
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("--code-file or --code-stdin");
    expect(await login(`${PASSWORD}\n000000\n`, "--code-stdin")).toMatchObject({ code: 4, stdout: "" });
    expect(await rmm.run(["users", "me"])).toMatchObject({ code: 4, stdout: "" });
  });

  it("through rmm: password and code from stdin; the tokens are in a file only the user can read", async () => {
    const ran = await login(`${PASSWORD}\n${freshCode(server, secret)}\n`, "--code-stdin");
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(ran.stderr).toContain(`as ${email} (partner)`);
    const me = await rmm.run(["users", "me", "--json=email,mfaSatisfied"]);
    expect(JSON.parse(me.stdout)).toEqual({ email, mfaSatisfied: true });
    const config = join(rmm.dir, "config");
    for (const name of readdirSync(config, { recursive: true }) as string[]) {
      const { mode } = statSync(join(config, name));
      expect(mode & 0o077, name).toBe(0);
    }
  });

  it("through rmm: two processes that share a profile and an expired token both succeed, and stay signed in", async () => {
    for (let round = 0; round < 2; round += 1) {
      server.clock.advance(16 * MINUTE);
      const both = await Promise.all([1, 2].map(() => rmm.run(["users", "me", "--json=email"])));
      for (const ran of both) expect(ran).toMatchObject({ code: 0, stderr: "" });
    }
    expect(await rmm.run(["users", "me"])).toMatchObject({ code: 0 });
  });

  it("through rmm: a step-up needs a fresh code, not a used one", async () => {
    const code = freshCode(server, secret);
    expect(await rmm.run(["auth", "mfa", "step-up", "--code-stdin"], { stdin: `${code}\n` })).toMatchObject({
      code: 0,
    });
    const again = await rmm.run(["auth", "mfa", "step-up", "--code-stdin", "--json"], { stdin: `${code}\n` });
    expect(again.code).not.toBe(0);
    expect(again.stdout).toBe("");
    expect(totpCode(secret, server.clock.nowMs())).toBe(code);
  });

  it("through rmm: a logout ends the session on the server and forgets it here", async () => {
    const token = (await rmm.run(["auth", "token"])).stdout.trim();
    expect(await rmm.run(["auth", "logout"])).toMatchObject({ code: 0, stdout: "" });
    expect((await server.request("GET", "/users/me", { token })).status).toBe(401);
    expect(await rmm.run(["users", "me"])).toMatchObject({ code: 4, stdout: "" });
  });
});
