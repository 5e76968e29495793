import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { builtInRoleId } from "#server/access/roles";
import { totpCode } from "#server/features/sign-in/mfa/rules";
import { seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { PASSWORD } from "../people.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

describe("rmm users accept-invite", () => {
  let server: TestServer;
  let rmm: RmmProcess;
  let token: string;
  let patSecret: string;

  beforeAll(async () => {
    server = await startTestServer("sqlite", { PUBLIC_URL: "https://rmm.example" });
    rmm = rmmProcess({ RMM_SERVER: server.url });
    const { partnerId } = await seedPartner(server, "acme", []);
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
    writeFileSync(join(rmm.dir, "password"), `${PASSWORD}\n`);
  });
  afterAll(async () => {
    rmm?.close();
    await server?.stop();
  });

  /** The file with the token of a new invitation. */
  const invite = async (email: string, as = token, nth = 1): Promise<string> => {
    const roleId = builtInRoleId("Partner Technician");
    const body = { email, name: "Pat", roleId, orgAccess: "all" };
    const answer = await server.request("POST", "/users/invite", { token: as, body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    const mail = await vi.waitFor(() => {
      const sent = server.mails.filter(({ to }) => to === email)[nth - 1];
      if (sent) return sent;
      throw new Error("no mail yet");
    }, 10_000);
    const path = join(rmm.dir, `${email}.invite`);
    writeFileSync(path, /#token=(\S+)/.exec(mail.text)?.[1] as string);
    return path;
  };
  const accept = (file: string, ...more: string[]) =>
    rmm.run(["users", "accept-invite", "--link-file", file, "--password-file", "password", ...more]);
  const isPending = async (email: string) =>
    (await server.db.selectFrom("users").select("status").where("email", "=", email).executeTakeFirst())?.status;

  it("signs the person in as a login does, and prints no token", async () => {
    const ran = await accept(await invite("pat@acme.example"), "--store", "file", "--profile", "pat");
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(ran.stderr).toContain("as pat@acme.example (partner), profile pat");
    const kept = readFileSync(join(rmm.dir, "config/tokens.json"), "utf8");
    const [tokens] = Object.values<{ accessToken: string; refreshToken: string }>(JSON.parse(kept).tokens);
    for (const secret of [tokens!.accessToken, tokens!.refreshToken]) expect(ran.stderr).not.toContain(secret);
    const me = await rmm.run(["users", "me", "--profile", "pat", "--json=email"]);
    expect(JSON.parse(me.stdout)).toEqual({ email: "pat@acme.example" });
    const json = await accept(await invite("kim@acme.example"), "--store", "file", "--profile", "kim", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ user: { email: "kim@acme.example", scope: "partner" } });
    expect(json.stdout).not.toMatch(/accessToken|refreshToken/);
  });

  it("does not use up the invitation when the session cannot be stored", async () => {
    const ran = await accept(await invite("lee@acme.example"));
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("--store=file");
    expect(await isPending("lee@acme.example")).toBe("invited");
  });

  it("puts the tokens into --secret-file instead, and does not sign in here", async () => {
    const path = join(rmm.dir, "tokens");
    const ran = await accept(await invite("sam@acme.example"), "--secret-file", path, "--profile", "sam");
    expect(ran.code, ran.stderr).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { accessToken } = JSON.parse(readFileSync(path, "utf8"));
    expect(ran.stdout + ran.stderr).not.toContain(accessToken);
    expect((await server.request("GET", "/users/me", { token: accessToken })).body.email).toBe("sam@acme.example");
    expect((await rmm.run(["users", "me", "--profile", "sam"])).code).not.toBe(0);
  });

  it("the second factor is then set up from a file, and nothing secret is printed", async () => {
    const file = join(rmm.dir, "mfa.json");
    const setup = ["auth", "mfa", "setup", "--profile", "pat", "--current-password-file", "password"];
    const ran = await rmm.run([...setup, "--secret-file", file]);
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    const { secret, recoveryCodes } = JSON.parse(readFileSync(file, "utf8"));
    for (const one of [secret, ...recoveryCodes]) expect(ran.stderr).not.toContain(one);
    const stdin = `${totpCode(secret, server.clock.nowMs())}\n`;
    expect(await rmm.run(["auth", "mfa", "enable", "--profile", "pat", "--code-stdin"], { stdin })).toMatchObject({
      code: 0,
    });
    expect((await rmm.run([...setup, "--secret-file", file])).code).toBe(2);
    expect(existsSync(`${file}.tmp`)).toBe(false);
    patSecret = secret;
  });

  it("asks an existing user for password and second factor, who can then switch between tenants", async () => {
    const other = await seedPartner(server, "globex", []);
    const boss = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    const file = await invite("pat@acme.example", boss.token, 2);
    const store = ["--store", "file", "--profile", "pat"];
    const asked = await accept(file, ...store);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("--code-file");
    server.clock.advance(60_000);
    writeFileSync(join(rmm.dir, "code"), totpCode(patSecret, server.clock.nowMs()));
    const ran = await accept(file, ...store, "--code-file", "code");
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "" });
    const listed = await rmm.run(["auth", "memberships", "--profile", "pat", "--json=tenantName,status"]);
    expect(JSON.parse(listed.stdout)).toEqual([
      { tenantName: "acme", status: "active" },
      { tenantName: "globex", status: "active" },
    ]);
    const tenant = async () => {
      const me = await rmm.run(["users", "me", "--profile", "pat", "--json=partnerId"]);
      return JSON.parse(me.stdout).partnerId;
    };
    expect(await tenant()).toBe(other.partnerId);
    expect((await rmm.run(["auth", "switch", "nowhere", "--profile", "pat"])).stderr).toContain("rmm auth memberships");
    const switched = await rmm.run(["auth", "switch", "acme", "--profile", "pat"]);
    expect(switched, switched.stderr).toMatchObject({ code: 0, stdout: "" });
    expect(await tenant()).not.toBe(other.partnerId);
  });
});
