import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { refusals } from "#cli/single-sign-on/refusals";
import { totpCode } from "#server/features/sign-in/mfa/rules";
import type { LinkRejectionCode, RejectionCode } from "#server/features/sign-in/sso-logins/rejection";
import { databases, seedPartner } from "../harness.ts";
import { enrol, PASSWORD, seedPerson } from "../people.ts";
import { type SsoTest, startSsoTest } from "../sso.ts";
import { type RmmProcess, rmmProcess, type Started } from "./rmm-process.ts";

describe.each(databases)("rmm auth login --sso on %s", (database) => {
  let sso: SsoTest;
  let rmm: RmmProcess;
  let partnerId: string;
  let orgId: string;
  let enforcedOrg: string;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    rmm = rmmProcess({ RMM_SERVER: sso.server.url });
    const seeded = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    partnerId = seeded.partnerId;
    [orgId, enforcedOrg] = seeded.orgIds as [string, string];
    await sso.seedProvider({ orgId }, { allowedDomains: "harbor.example" });
    await sso.seedProvider({ orgId: enforcedOrg }, { enforceSso: true });
    await sso.seedProvider({ partnerId });
    const now = sso.server.clock.now();
    const domain = { id: sso.server.services.random.uuid(), orgId: enforcedOrg, domain: "island.example" };
    const proven = { verificationToken: "t", verifiedAt: now, lastCheckedAt: now, createdBy: null };
    await sso.server.db
      .insertInto("ssoDomains")
      .values({ ...domain, ...proven, createdAt: now, updatedAt: now })
      .execute();
  });
  afterAll(async () => {
    rmm?.close();
    await sso?.stop();
  });
  afterEach(() => {
    sso.idp.faults = {};
  });

  let made = 0;
  /** A member, and the same person at the provider. */
  const member = async (of: { orgId?: string; partnerId?: string; role: string }, domain: string) => {
    made += 1;
    const email = `pat.${made}@${domain}`;
    const person = await seedPerson(sso.server, { ...of, email, mfa: false });
    sso.idp.person = { subject: `sub-${made}`, email, emailVerified: true, name: "Pat" };
    return person;
  };
  const harborMember = () => member({ role: "Org Admin", orgId }, "harbor.example");

  const start = (argv: readonly string[], env: Record<string, string> = {}) =>
    rmm.start(["auth", "login", "--sso", "--store", "file", ...argv], { env });
  /** The URL that the command prints for the browser. */
  const addressOf = async (login: Started) => (await login.onStderr(/^ {2}(http:\S+)$/m))[1] as string;
  /** Passes the result of the sign-in to the listener as the page does; returns where the browser goes next. */
  const handOver = async (location: string): Promise<string | null> => {
    const page = new URL(location, sso.server.url);
    expect(page.pathname).toBe("/api/v1/sso/cli");
    expect((await fetch(page)).status).toBe(200);
    const form = new URLSearchParams([["state", page.searchParams.get("state") as string]]);
    for (const [name, value] of new URLSearchParams(page.hash.slice(1))) form.append(name, value);
    const target = `http://127.0.0.1:${page.searchParams.get("port")}/`;
    const answer = await fetch(target, { method: "POST", body: form, redirect: "manual" });
    return answer.headers.get("location");
  };
  const signIn = async (argv: readonly string[]) => {
    const login = start(argv);
    const location = await sso.browser().signIn(await addressOf(login));
    const sentTo = await handOver(location);
    return { ...(await login.done), location, sentTo };
  };
  const doneAt = (done: 0 | 1) => `${sso.server.url}/api/v1/sso/cli?done=${done}`;
  const nothing = { code: 4, stdout: "" };

  it("signs in to an organization, keeps the session, and says what is still needed; no secret is shown", async () => {
    const { email } = await harborMember();
    const ran = await signIn(["--org", orgId, "--debug"]);
    expect(ran).toMatchObject({ code: 0, stdout: "", sentTo: doneAt(1) });
    expect(ran.stderr).toContain(`as ${email} (organization)`);
    expect(ran.stderr).toContain("set one up with `rmm auth mfa setup`");
    const tokens = readFileSync(join(rmm.dir, "config/tokens.json"), "utf8");
    const secrets = Object.values<Record<string, unknown>>(JSON.parse(tokens).tokens).flatMap(Object.values);
    expect(secrets.length).toBeGreaterThan(2);
    for (const secret of [ran.location.slice(-48), ...secrets.filter((one) => typeof one === "string")])
      expect(ran.stderr).not.toContain(secret);
    expect(ran.stderr).toContain("debug: > POST");
    for (const file of readdirSync(rmm.dir, { recursive: true, withFileTypes: true }))
      if (file.isFile())
        expect(readFileSync(join(file.parentPath, file.name), "utf8")).not.toContain(ran.location.slice(-48));
    const me = await rmm.run(["users", "me", "--json=email,mfaSatisfied"]);
    expect(JSON.parse(me.stdout)).toEqual({ email, mfaSatisfied: false });
    expect(await rmm.run(["auth", "logout"])).toMatchObject({ code: 0 });
    expect(await rmm.run(["users", "me"])).toMatchObject(nothing);
  });

  it("names the account that it did not sign in, and explains a missing second factor; the step-up works", async () => {
    const { email, token } = await harborMember();
    const { secret } = await enrol(sso.server, token);
    const ran = await signIn(["--org", orgId, "--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ account: email, mfaEnabled: true, mfaSatisfied: false });
    expect(ran.stderr).toContain("run `rmm auth mfa step-up`");
    sso.server.clock.advance(60_000);
    const stdin = `${totpCode(secret, sso.server.clock.nowMs())}\n`;
    expect(await rmm.run(["auth", "mfa", "step-up", "--code-stdin"], { stdin })).toMatchObject({ code: 0 });
    expect((await rmm.run(["users", "me", "--jq", ".mfaSatisfied"])).stdout).toBe("true\n");
  });

  it("if SSO is enforced, a password is refused with a hint, and the email domain selects the provider", async () => {
    const { email } = await member({ role: "Org Admin", orgId: enforcedOrg }, "island.example");
    const plain = ["auth", "login", "--store", "file", "--email", email, "--password-stdin"];
    const refused = await rmm.run(plain, { stdin: `${PASSWORD}\n` });
    expect(refused).toMatchObject(nothing);
    expect(refused.stderr).toContain("rmm auth login --sso --email");
    const ran = await signIn(["--email", email.toUpperCase()]);
    expect(ran).toMatchObject({ code: 0, sentTo: doneAt(1) });
    expect(ran.stderr).not.toContain("not PAT");
    expect(JSON.parse((await rmm.run(["users", "me", "--json=email,orgId"])).stdout)).toEqual({
      email,
      orgId: enforcedOrg,
    });
    const other = await signIn(["--email", "somebody.else@island.example"]);
    expect(other.stderr).toContain(`signed in ${email}, not somebody.else@island.example`);
    const unknown = await rmm.run(["auth", "login", "--sso", "--store", "file", "--email", "a@nowhere.example"]);
    expect(unknown).toMatchObject({ code: 3, stdout: "" });
  });

  it("signs in to a partner: by id, by slug while signed in, and by default if the server has only one", async () => {
    const { email } = await member({ role: "Partner Admin", partnerId }, "acme.example");
    for (const argv of [["--partner", partnerId], ["--partner", "acme"], []]) {
      const ran = await signIn(argv);
      expect(ran, argv.join(" ")).toMatchObject({ code: 0, stdout: "", sentTo: doneAt(1) });
      expect(ran.stderr).toContain(`as ${email} (partner)`);
    }
    expect(await rmm.run(["auth", "logout"])).toMatchObject({ code: 0 });
    for (const flag of ["--partner", "--org"]) {
      const ran = await rmm.run(["auth", "login", "--sso", "--store", "file", flag, "acme"]);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(`${flag} needs an id here`);
    }
  });

  it("says in words why the sign-in was refused, to the browser too, and keeps nothing", async () => {
    await harborMember();
    sso.idp.person = { subject: "x", email: "pat@elsewhere.example", emailVerified: true };
    const ran = await signIn(["--org", orgId, "--json"]);
    expect(ran).toMatchObject({ ...nothing, sentTo: doneAt(0) });
    expect(ran.location).toMatch(/#ssoError=domain_not_allowed$/);
    const { error } = JSON.parse(ran.stderr.slice(ran.stderr.indexOf("\n{")));
    expect(error).toMatchObject({ code: "SSO_REFUSED", details: { error: "domain_not_allowed" } });
    expect(error.message).toContain("Email addresses of your domain may not sign in here");
    expect(await rmm.run(["users", "me"])).toMatchObject(nothing);
  });

  it("a stolen code is useless without the verifier, and still works for the command", async () => {
    await harborMember();
    const login = start(["--org", orgId]);
    const location = await sso.browser().signIn(await addressOf(login));
    const stolen = await sso.server.request("POST", "/sso/exchange", { body: { code: location.slice(-48) } });
    expect([stolen.status, stolen.body.code]).toEqual([400, "INVALID_EXCHANGE_CODE"]);
    expect(await handOver(location)).toBe(doneAt(1));
    expect(await login.done).toMatchObject({ code: 0, stdout: "" });
    await rmm.run(["auth", "logout"]);
  });

  it("an expired code is refused, and the browser shows that", async () => {
    await harborMember();
    const login = start(["--org", orgId]);
    const location = await sso.browser().signIn(await addressOf(login));
    await sso.server.db.deleteFrom("ssoExchangeCodes").execute();
    expect(await handOver(location)).toBe(doneAt(0));
    const ran = await login.done;
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("start again");
    expect(await rmm.run(["users", "me"])).toMatchObject(nothing);
  });

  it("opens the browser named in BROWSER with only the URL, and none over SSH", async () => {
    await harborMember();
    const [browser, seen] = [join(rmm.dir, "browser"), join(rmm.dir, "seen")];
    writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$@" > ${seen}.tmp && mv ${seen}.tmp ${seen}\n`, { mode: 0o755 });
    for (const more of [[], ["--quiet"]]) {
      const login = start(["--org", orgId, ...more], { BROWSER: browser });
      const address = await addressOf(login);
      const opened = await vi.waitFor(() => readFileSync(seen, "utf8"), { timeout: 10_000 });
      expect(opened).toBe(`${address}\n`);
      expect(await handOver(await sso.browser().signIn(address))).toBe(doneAt(1));
      expect(await login.done).toMatchObject({ code: 0, stdout: "" });
      rmSync(seen);
    }
    const overSsh: Record<string, string>[] = [
      { SSH_CONNECTION: "192.0.2.7 50000 192.0.2.8 22" },
      { SSH_TTY: "/dev/pts/1" },
    ];
    for (const env of overSsh) {
      const login = start(["--org", orgId], { BROWSER: browser, ...env });
      const port = new URL(
        new URL(await addressOf(login)).searchParams.get("redirect") as string,
        sso.server.url,
      ).searchParams.get("port");
      const [hint] = await login.onStderr(/ssh -N -L (\d+):127\.0\.0\.1:\1 \S+/);
      expect(hint).toContain(`-L ${port}:`);
      login.kill("SIGINT");
      expect((await login.done).code).toBe(130);
    }
    const byHand = start(["--org", orgId, "--no-browser"], { BROWSER: browser });
    await addressOf(byHand);
    byHand.kill("SIGINT");
    await byHand.done;
    expect(existsSync(seen)).toBe(false);
  });

  it("ends with 130 on Ctrl-C and with 4 after --timeout, and then stops listening", async () => {
    for (const [argv, code, says] of [
      [["--org", orgId], 130, "Interrupted"],
      [["--org", orgId, "--timeout", "2s"], 4, "No one signed in within 2 s"],
    ] as const) {
      const login = start(argv);
      const redirect = new URL(await addressOf(login)).searchParams.get("redirect") as string;
      const port = new URL(redirect, sso.server.url).searchParams.get("port");
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(405);
      if (code === 130) login.kill("SIGINT");
      const ran = await login.done;
      expect(ran).toMatchObject({ code, stdout: "" });
      expect(ran.stderr).toContain(says);
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    }
  });

  it("exits 2 immediately without a terminal, names what works unattended, and asks nothing", async () => {
    const before = sso.idp.requests.length;
    for (const [more, env] of [
      [["--no-input"], {}],
      [[], { CI: "true" }],
      [[], { RMM_NO_INPUT: "1" }],
    ] as const) {
      const ran = await rmm.run(["auth", "login", "--sso", "--org", orgId, ...more], { env });
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      for (const kind of ["RMM_API_KEY", "svc_…", "svc_sp_…", "RMM_TOKEN"]) expect(ran.stderr).toContain(kind);
    }
    for (const argv of [
      ["--sso", "--org", orgId, "--email", "a@island.example"],
      ["--sso", "--password-stdin"],
      ["--partner", partnerId],
      ["--no-browser"],
    ]) {
      expect(await rmm.run(["auth", "login", "--store", "file", ...argv])).toMatchObject({ code: 2, stdout: "" });
    }
    // The profile of the other tests remembers that it keeps its tokens in a file.
    const kept = await rmm.run(["auth", "login", "--sso", "--org", orgId, "--profile", "without-store"]);
    expect(kept).toMatchObject({ code: 1, stdout: "" });
    expect(kept.stderr).toContain("--store=file");
    expect(sso.idp.requests.length).toBe(before);
  });

  it("exits 2 naming the flags where the server has several partners", async () => {
    await seedPartner(sso.server, "second", []);
    sso.server.clock.advance(120_000);
    const ran = await rmm.run(["auth", "login", "--sso", "--store", "file"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    for (const flag of ["--email", "--org", "--partner"]) expect(ran.stderr).toContain(flag);
  });
});

it("every reason for a refused sign-in has a message", () => {
  const known = {
    sso_error: 1,
    invalid_callback: 1,
    session_expired: 1,
    provider_not_found: 1,
    sso_provider_inactive: 1,
    sso_config_changed: 1,
    sso_email_unverified: 1,
    domain_not_allowed: 1,
    sso_domain_unverified: 1,
    invite_required: 1,
    user_not_found: 1,
    default_role_required: 1,
    invalid_provider_configuration: 1,
    no_org_access: 1,
    no_partner_access: 1,
    invalid_role_scope: 1,
  } satisfies Record<Exclude<RejectionCode, LinkRejectionCode>, 1>;
  expect(Object.keys(refusals).sort()).toEqual(Object.keys(known).sort());
});
