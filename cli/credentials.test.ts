import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { stubApi } from "./test-api.ts";
import { memoryKeychain, NOW, testCommand } from "./test-shell.ts";

const command = testCommand();
const TOKEN = "user-token-of-ana";
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi();
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const list = (env: Record<string, string | undefined>, more: readonly string[] = []) =>
  command.run(["sites", "list", "--json", ...more], { env: { RMM_SERVER: stub.url, ...env } });
const sentWith = () => stub.seen.at(-1)?.headers;
const file = (name: string, text: string): string => {
  const path = join(command.dir, name);
  writeFileSync(path, text);
  return path;
};

describe("tokens from outside (C07)", () => {
  it("loses the white space around a token, wherever it comes from", async () => {
    for (const env of [{ RMM_TOKEN: ` ${TOKEN}\n` }, { RMM_TOKEN_FILE: file("crlf", `${TOKEN}\r\n`) }]) {
      expect((await list(env)).code).toBe(0);
      expect(sentWith()?.authorization).toBe(`Bearer ${TOKEN}`);
    }
    const path = file("newline", `\n${TOKEN}\n\n`);
    expect((await list({}, ["--token-file", path])).code).toBe(0);
    expect(sentWith()?.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("refuses a token with a control character inside or none at all, names the source and shows no token", async () => {
    for (const [value, source] of [
      ["svc_abc\tdef123", "RMM_API_KEY"],
      ["", "RMM_API_KEY"],
      ["  \n", "RMM_TOKEN"],
      ["abcd\u0000efgh", "RMM_TOKEN"],
    ] as const) {
      const before = stub.seen.length;
      const ran = await list({ [source]: value });
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(source);
      expect(ran.stderr).not.toMatch(/svc_abc|def123|abcd|efgh/);
      expect(stub.seen.length).toBe(before);
    }
  });

  it("lets a flag win over RMM_TOKEN_FILE, that over RMM_TOKEN, and that over RMM_API_KEY", async () => {
    const env = { RMM_TOKEN_FILE: file("f", "from-env-file"), RMM_TOKEN: "from-token", RMM_API_KEY: "svc_key" };
    await list(env, ["--token-file", file("g", "from-flag")]);
    expect(sentWith()?.authorization).toBe("Bearer from-flag");
    await list(env);
    expect(sentWith()?.authorization).toBe("Bearer from-env-file");
    await list({ RMM_TOKEN: env.RMM_TOKEN, RMM_API_KEY: env.RMM_API_KEY });
    expect(sentWith()?.authorization).toBe("Bearer from-token");
  });

  it("fails locally when a key is used where only users may call, and says what would work", async () => {
    const before = stub.seen.length;
    const ran = await list({ RMM_API_KEY: "svc_0123456789" });
    expect(ran.code).toBe(4);
    expect(JSON.parse(ran.stderr).error).toMatchObject({ code: "WRONG_CREDENTIAL", details: { accepted: ["user"] } });
    expect(stub.seen.length).toBe(before);
  });

  it("names what the same partner key can do instead", async () => {
    const env = { RMM_API_KEY: `svc_sp_${"a".repeat(43)}`, RMM_SERVER: stub.url };
    for (const [argv, own] of [
      [["enrollment-keys", "create", "--org", "contoso", "--name", "x"], "create-enrollment-key"],
      [["sites", "list"], "sites"],
    ] as const) {
      const ran = await command.run(argv, { env });
      expect([ran.code, ran.stderr]).toEqual([4, expect.stringContaining(`With this key: \`rmm partner-api ${own}\``)]);
    }
  });

  it("says where to sign in when there is no credential", async () => {
    const ran = await list({});
    expect(ran.code).toBe(4);
    expect(JSON.parse(ran.stderr).error).toMatchObject({ code: "NOT_SIGNED_IN" });
  });
});

/** A server that signs one person in and gives tokens that tell which server made them. */
async function signInServer(name: string, partner = false) {
  let made = 0;
  const pair = () => {
    made += 1;
    return {
      accessToken: `${name}-access-${made}`,
      refreshToken: `${name}-refresh-${made}`,
      tokenType: "Bearer",
      expiresIn: 900,
    };
  };
  return stubApi({
    "POST /auth/login": ({ body }) =>
      (body as { password: string }).password === "right password"
        ? { body: { ...pair(), user: { scope: "partner" }, mfaRequired: false, mfaEnrollmentRequired: false } }
        : refusal(401, "INVALID_CREDENTIALS"),
    "POST /auth/refresh": () => ({ body: pair() }),
    "POST /auth/logout": () => ({ body: { success: true } }),
    "GET /orgs/partners/me": () => (partner ? { body: { name: "Acme MSP" } } : refusal(403, "FORBIDDEN")),
  });
}

const login = (url: string, more: readonly string[] = [], options = {}) =>
  command.run(["auth", "login", "--server", url, "--email", "ana@contoso.example", "--password-stdin", ...more], {
    stdin: "right password\n",
    ...options,
  });

describe("sign-ins of two servers (C55)", () => {
  it("sends each server its own token, and signing out of one leaves the other", async () => {
    const [a, b] = [await signInServer("a"), await signInServer("b")];
    expect((await login(a.url, ["--store=file"])).code).toBe(0);
    expect((await login(`${b.url.replace("127.0.0.1", "LOCALHOST")}/api/v1/`, ["--store=file"])).code).toBe(0);
    const bUrl = b.url.replace("127.0.0.1", "localhost");
    for (const url of [a.url, `${a.url}/`, `${a.url}/api/v1`, bUrl, `${bUrl}//`]) {
      expect((await command.run(["sites", "list", "--server", url])).code).toBe(0);
    }
    const proofs = (stubOf: Stub) => stubOf.seen.map(({ headers }) => headers.authorization ?? "").join(" ");
    expect(proofs(a)).not.toContain("b-access");
    expect(proofs(b)).not.toContain("a-access");
    expect((await command.run(["auth", "logout", "--server", a.url])).code).toBe(0);
    expect((await command.run(["sites", "list", "--server", a.url])).code).toBe(4);
    expect((await command.run(["sites", "list", "--server", bUrl])).code).toBe(0);
    await Promise.all([a.close(), b.close()]);
  });

  it("keeps tokens in the keychain under server, profile and account", async () => {
    const server = await signInServer("k", true);
    const keychain = memoryKeychain();
    const ran = await login(server.url, ["--profile", "prod"], { keychain });
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect([...keychain.entries.keys()]).toEqual([`${server.url}|prod|ana@contoso.example`]);
    const write = await command.run(
      ["sites", "remove", "HQ", "--org", "contoso-dental", "--yes", "--profile", "prod"],
      { keychain },
    );
    expect(write.stderr).toContain("→ Acme MSP");
    await server.close();
  });

  it("refuses before the password is sent where there is no keychain, and says what to do", async () => {
    const server = await signInServer("n");
    const ran = await login(server.url, ["--profile", "new"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("--store=file");
    expect(server.seen).toEqual([]);
    await server.close();
  });
});

describe("the token file (C52)", () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it("is 0600 in a 0700 folder, whatever the umask and whatever was there before", async () => {
    const server = await signInServer("m");
    const dir = join(command.dir, "loose");
    mkdirSync(dir);
    writeFileSync(join(dir, "tokens.json"), '{"tokens":{}}');
    chmodSync(dir, 0o777);
    chmodSync(join(dir, "tokens.json"), 0o644);
    const umask = process.umask(0o002);
    try {
      expect((await login(server.url, ["--store=file"], { env: { RMM_CONFIG_DIR: dir } })).code).toBe(0);
    } finally {
      process.umask(umask);
    }
    expect(modeOf(dir)).toBe(0o700);
    for (const name of ["tokens.json", "config.json"]) expect(modeOf(join(dir, name))).toBe(0o600);
    expect(readdirSync(dir).filter((name) => name.endsWith(".tmp") || name.endsWith(".lock"))).toEqual([]);
    await server.close();
  });

  it("does not burn a refresh token when two runs renew at once, and stores the new pair before it is used", async () => {
    const server = await signInServer("r");
    const env = { RMM_CONFIG_DIR: join(command.dir, "race"), RMM_SERVER: server.url };
    expect((await login(server.url, ["--store=file"], { env })).code).toBe(0);
    const tokens = join(env.RMM_CONFIG_DIR, "tokens.json");
    const book = JSON.parse(readFileSync(tokens, "utf8"));
    for (const one of Object.values<{ expiresAtMs: number }>(book.tokens)) one.expiresAtMs = NOW - 1;
    writeFileSync(tokens, JSON.stringify(book));
    const runs = await Promise.all([1, 2, 3].map(() => command.run(["sites", "list"], { env })));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(server.seen.filter(({ path }) => path.endsWith("/auth/refresh"))).toHaveLength(1);
    expect(readFileSync(tokens, "utf8")).toContain("r-refresh-2");
    await server.close();
  });

  it("fails with the path and without a token where it cannot be written", async () => {
    const server = await signInServer("w");
    const blocked = file("no-folder", "a file where a folder should be");
    const ran = await login(server.url, ["--store=file"], { env: { RMM_CONFIG_DIR: join(blocked, "config") } });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("RMM_CONFIG_DIR");
    expect(ran.stderr).not.toMatch(/w-(access|refresh)/);
    await server.close();
  });
});

it("a refusal of a key says where the key came from; that of a sign-in is not the key's", async () => {
  const refusing = await stubApi({
    "GET /orgs/sites": () => refusal(401, "UNAUTHENTICATED"),
    "GET /partner-api/organizations": () => refusal(401, "API_KEY_INVALID"),
    "POST /auth/login": () => refusal(401, "INVALID_CREDENTIALS"),
  });
  const key = `svc_sp_${"a".repeat(43)}`;
  const path = file("partner.key", key);
  const argv = ["sites", "list", "--org", "11111111-1111-4111-8111-111111111111"];
  const user = file("user", TOKEN);
  const exported = ["partner-api", "organizations"];
  for (const [env, line, source] of [
    [{ RMM_TOKEN_FILE: path }, exported, `RMM_TOKEN_FILE (${path})`],
    [{ RMM_API_KEY: key }, exported, "RMM_API_KEY"],
    [{ RMM_TOKEN: TOKEN, RMM_API_KEY: key }, argv, "RMM_TOKEN"],
    [{ RMM_API_KEY: key }, [...argv, "--token-file", user], `--token-file ${user}`],
  ] as const) {
    const ran = await command.run(line, { env: { RMM_SERVER: refusing.url, ...env } });
    expect(ran.code, ran.stderr).toBe(4);
    expect(ran.stderr).toContain(`The credential is that of ${source}\n`);
    expect(ran.stderr).not.toContain(TOKEN);
  }
  const login = ["auth", "login", "--email", "a@b.example", "--password-stdin", "--store=file"];
  const signIn = await command.run(login, {
    stdin: "Secret-Value-1",
    env: { RMM_SERVER: refusing.url, RMM_TOKEN_FILE: path },
  });
  expect(signIn.code).not.toBe(0);
  expect(signIn.stderr).not.toContain("The credential is that of");
  await refusing.close();
});
