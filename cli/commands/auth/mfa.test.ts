import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { stubApi, writesOf } from "../../test-api.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
const made = {
  secret: "JBSWY3DPEHPK3PXP",
  otpAuthUrl: "otpauth://totp/rmm:ana?secret=JBSWY3DPEHPK3PXP",
  qrCodeDataUrl: "data:image/png;base64,AAAA",
  recoveryCodes: ["aaaa-bbbb-cccc", "dddd-eeee-ffff"],
};
let refuses = false;
let mfaEnabled = true;
let wrongCodes = 0;
let finished = false;
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "GET /users/me": () => ({
      body: {
        ...{
          id: "u",
          scope: "partner",
          roleName: "Partner Admin",
          permissions: ["*:*"],
          mfaEnabled,
          mfaSatisfied: false,
        },
        ...{ orgAccess: "all", orgIds: null, siteIds: null },
      },
    }),
    "POST /auth/mfa/setup": () => (refuses ? refusal(409, "MFA_ALREADY_ENABLED") : { body: made }),
    "POST /auth/login": () => ({
      body: { mfaRequired: true, tempToken: "temp", mfaMethods: ["totp"], expiresIn: 300 },
    }),
    "POST /auth/mfa/verify": () => refusal(401, "INVALID_MFA_CODE"),
    "POST /auth/mfa/recovery-codes": () => ({ body: { recoveryCodes: made.recoveryCodes } }),
    "POST /auth/mfa/enable": () => {
      if (finished) return refusal(400, "NO_PENDING_MFA_SETUP");
      if (wrongCodes-- > 0) return refusal(401, "INVALID_MFA_CODE");
      const tokens = { accessToken: "a", refreshToken: "r", expiresIn: 900 };
      return { body: { success: true, recoveryCodes: made.recoveryCodes, ...tokens } };
    },
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const setUp = (argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(["auth", "mfa", "setup", ...argv], { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token" } });
const secrets = [made.secret, ...made.recoveryCodes];

describe("rmm auth mfa setup --secret-file", () => {
  it("keeps secret and recovery codes in a new file that only its owner can read, and shows them nowhere", async () => {
    for (const [name, options] of [
      ["pipe", {}],
      ["password", { stdin: "Correct-Horse-7" }],
      ["terminal", { tty: true, answers: ["Correct-Horse-7", "123 456"] }],
    ] as const) {
      const path = join(command.dir, name);
      const flags = { pipe: ["--no-current-password"], password: ["--current-password-stdin"], terminal: [] }[name];
      const ran = await setUp(["--secret-file", path, ...flags], options);
      expect(ran, name).toMatchObject({ code: 0, stdout: "" });
      for (const secret of secrets) expect(ran.stderr).not.toContain(secret);
      const { secret, otpAuthUrl, recoveryCodes } = made;
      expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ secret, otpAuthUrl, recoveryCodes });
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(writesOf(stub).map(({ path, body }) => [path, body])).toEqual([
      ["/api/v1/auth/mfa/setup", {}],
      ["/api/v1/auth/mfa/setup", { currentPassword: "Correct-Horse-7" }],
      ["/api/v1/auth/mfa/setup", { currentPassword: "Correct-Horse-7" }],
      ["/api/v1/auth/mfa/enable", { code: "123456" }],
    ]);
  });

  it("sets nothing up when the file exists, and leaves none behind when nothing was set up", async () => {
    const path = join(command.dir, "taken");
    writeFileSync(path, "mine");
    const before = stub.seen.length;
    expect(await setUp(["--secret-file", path, "--no-current-password"])).toMatchObject({ code: 2, stdout: "" });
    expect(readFileSync(path, "utf8")).toBe("mine");
    expect(stub.seen.length).toBe(before);
    refuses = true;
    const other = join(command.dir, "never");
    expect(await setUp(["--secret-file", other, "--no-current-password"])).toMatchObject({ code: 6, stdout: "" });
    expect(existsSync(other)).toBe(false);
    refuses = false;
  });

  it("is refused where neither a password nor a person is there, and nothing is sent", async () => {
    const before = stub.seen.length;
    const ran = await setUp(["--json"]);
    expect([ran.code, ran.stdout, stub.seen.length]).toEqual([2, "", before]);
    expect(ran.stderr).toMatch(/--current-password-file or --current-password-stdin.*--no-current-password/);
  });

  it("without it a terminal gets the codes; who has no password answers with nothing", async () => {
    const ran = await setUp([], { tty: true, answers: ["", "123456"] });
    expect(ran).toMatchObject({ code: 0, stdout: `${made.recoveryCodes.join("\n")}\n` });
    expect(writesOf(stub).at(-2)?.body ?? {}).toEqual({});
  });
});

it("without a person the recovery codes that the setup gave are not repeated, unless they are asked for", async () => {
  const enable = (...more: string[]) =>
    command.run(["auth", "mfa", "enable", "--code-stdin", ...more], {
      stdin: "123456",
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token" },
    });
  const plain = await enable();
  expect(plain).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("those that the setup gave") });
  for (const code of made.recoveryCodes) expect(plain.stderr).not.toContain(code);
  expect(JSON.parse((await enable("--json")).stdout)).toMatchObject({ recoveryCodes: made.recoveryCodes });
});

describe("the first code", () => {
  const setups = () => writesOf(stub).filter(({ path }) => path.endsWith("/setup")).length;

  it("may be wrong twice: the same secret stays, and the hint names clock and reuse", async () => {
    wrongCodes = 2;
    const before = setups();
    const ran = await setUp([], { tty: true, answers: ["", "111111", "222222", "333333"] });
    expect(ran).toMatchObject({ code: 0, stdout: `${made.recoveryCodes.join("\n")}\n` });
    expect(ran.stderr).toMatch(/2 tries left: each code works once.*clock of the phone.*1 try left/s);
    expect(setups() - before).toBe(1);
  });

  it("is refused after three tries, with the same hint, and no recovery code is shown", async () => {
    wrongCodes = 3;
    const ran = await setUp([], { tty: true, answers: ["", "111111", "222222", "333333"] });
    wrongCodes = 0;
    expect(ran).toMatchObject({ stdout: "" });
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toMatch(/Check the code: each code works once/);
    for (const code of made.recoveryCodes) expect(ran.stderr).not.toContain(code);
  });

  it("or the secret is typed, in fours on a line of its own", async () => {
    const { stderr } = await setUp([], { tty: true, answers: ["", "333333"], columns: 40 });
    expect(stderr).toMatch(/it:\n {2}JBSW Y3DP EHPK 3PXP\n/);
  });

  it("is read from a picture that is black on white on every terminal", async () => {
    const { stderr } = await setUp([], { tty: true, answers: ["", "333333"], columns: 80 });
    const lines = stderr.split("\n").filter((line) => /[█▀▄]/.test(line));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(line).toMatch(/^\u001b\[30m\u001b\[107m[ █▀▄]+\u001b\[0m$/);
  });

  it("is on a terminal of 24 lines from the secret to the question, and the picture says what the server said", async () => {
    const { create } = await import("qrcode");
    const start = "otpauth://totp/RMM:firstname.lastname%40company.example?issuer=RMM";
    const secret = "7XP2BK2UJCBKEFW6ZRM4QEJTQFSW2VH5";
    const { otpAuthUrl } = made;
    made.otpAuthUrl = `${start}&secret=${secret}&algorithm=SHA1&digits=6&period=30`;
    const { stderr } = await setUp([], { tty: true, answers: ["", "333333"], columns: 80 });
    const narrow = await setUp([], { tty: true, answers: ["", "333333"], columns: 30 });
    made.otpAuthUrl = otpAuthUrl;
    const lines = stderr.slice(stderr.indexOf("Scan this")).split("\n");
    const picture = lines
      .filter((line) => line.startsWith("\u001b[30m"))
      .map((line) => line.replaceAll(/\u001b\[\d+m/g, ""));
    const question = 2;
    expect(lines.findLastIndex((line) => line.startsWith("\u001b")) + 1 + question).toBeLessThanOrEqual(24);
    const { modules } = create(`${start}&secret=${secret}`, { errorCorrectionLevel: "L" });
    const dark = picture.flatMap((line) => [line.replaceAll(/[▀█]/g, "#"), line.replaceAll(/[▄█]/g, "#")]);
    const drawn = dark.map((line) => [...line].map((one) => (one === "#" ? 1 : 0)));
    const empty = (rows: number) => Array.from({ length: rows }, () => new Array<number>(modules.size + 4).fill(0));
    const rows = Array.from({ length: modules.size }, (_, y) => [
      ...[0, 0, ...Array.from({ length: modules.size }, (_, x) => modules.get(y, x)), 0, 0],
    ]);
    expect(drawn).toEqual([...empty(2), ...rows, ...empty(1)]);
    expect(narrow.stderr).not.toMatch(/[█▀▄]/);
    expect(narrow.stderr).toContain("Type this secret");
  });
});

it("asks for no password where nobody is signed in", async () => {
  const asked: string[] = [];
  const argv = ["auth", "mfa", "setup"];
  const ran = await command.run(argv, {
    env: { RMM_SERVER: stub.url },
    tty: true,
    answers: ["Correct-Horse-7"],
    asked,
  });
  expect([ran.code, asked]).toEqual([4, []]);
});

it("a sign-in asks for the code three times before the password has to be typed again", async () => {
  const before = writesOf(stub).length;
  const argv = ["auth", "login", "--server", stub.url, "--email", "ana@msp.example", "--store", "file"];
  const ran = await command.run(argv, { tty: true, answers: ["Correct-Horse-7", "111 111", "222222", "333333"] });
  expect(ran.code).toBe(4);
  expect(ran.stderr).toMatch(/2 tries left.*1 try left/s);
  const sent = writesOf(stub)
    .slice(before)
    .filter(({ path }) => path.endsWith("/verify"));
  expect(sent.map(({ body }) => (body as { code: string }).code)).toEqual(["111111", "222222", "333333"]);
});

it.each(["mfa", "auth mfa"])(
  "%s: turning it off, setting it up or replacing its codes asks for the password, or to be told that there is none",
  async (group) => {
    const run = (name: string, argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) => {
      const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
      return command.run([...group.split(" "), name, ...argv], { ...options, env });
    };
    const before = stub.seen.length;
    const writes = writesOf(stub).length;
    for (const [name, argv] of [
      ["disable", ["--code-stdin", "--yes"]],
      ["recovery-codes", ["--yes"]],
      ["setup", ["--json"]],
    ] as const) {
      const ran = await run(name, argv, { stdin: "123456" });
      expect(ran, name).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain("--current-password-file or --current-password-stdin");
      expect(ran.stderr).toContain("An account without a password gives --no-current-password");
    }
    expect((await run("recovery-codes", ["--yes", "-f", "-"], { stdin: "[{}]" })).stdout).toContain("MISSING_INPUT");
    const both = ["--yes", "--no-current-password", "--current-password-stdin"];
    expect((await run("recovery-codes", both, { stdin: "Correct-Horse-7" })).code).toBe(2);
    expect(stub.seen.length).toBe(before);
    const asked = { tty: true, answers: ["Correct-Horse-7"] };
    expect((await run("recovery-codes", ["--yes"], asked)).code).toBe(0);
    expect((await run("recovery-codes", ["--yes", "--no-current-password"])).code).toBe(0);
    const sent = writesOf(stub)
      .slice(writes)
      .map(({ path, body }) => [path, body]);
    expect(sent).toEqual([
      ["/api/v1/auth/mfa/recovery-codes", { currentPassword: "Correct-Horse-7" }],
      ["/api/v1/auth/mfa/recovery-codes", undefined],
    ]);
  },
);

it.each([["mfa"], ["auth", "mfa"]])(
  "%s %s: nobody is asked for a code of a factor that is not there: setting one up comes first",
  async (...group) => {
    mfaEnabled = false;
    const before = writesOf(stub).length;
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
    for (const name of ["step-up", "disable", "recovery-codes"]) {
      const asked: string[] = [];
      const ran = await command.run([...group.filter((word) => typeof word === "string"), name], {
        tty: true,
        answers: ["123456"],
        asked,
        env,
      });
      expect([name, ran.code, asked]).toEqual([name, 1, []]);
      expect(ran.stderr).toContain("has no second factor");
      expect(ran.stderr).toContain("Set one up first with `rmm auth mfa setup`");
    }
    expect(writesOf(stub).length).toBe(before);
    mfaEnabled = true;
  },
);

it.each([
  [true, "Prove it with `rmm auth mfa step-up`"],
  [false, "Set one up first with `rmm auth mfa setup`"],
])("can-i says what comes first for want of a factor, which there is: %s", async (there, hint) => {
  mfaEnabled = there;
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
  const one = await command.run(["auth", "can-i", "sites", "create"], { env });
  expect([one.code, one.stderr]).toEqual([4, expect.stringContaining(hint)]);
  const all = await command.run(["auth", "can-i", "--list"], { env });
  expect([all.code, all.stderr]).toEqual([0, expect.stringMatching(/^\d+ of them take a second factor/)]);
  expect(all.stderr).toContain(hint);
  mfaEnabled = true;
});

it("rmm auth mfa enable says that the factor is on where it is, and else that no set-up waits", async () => {
  finished = true;
  const enable = async (noun: readonly string[]) => {
    const ran = await command.run([...noun, "enable", "--code-stdin", "--json"], {
      stdin: "123456",
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token" },
    });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    return JSON.parse(ran.stderr).error;
  };
  for (const noun of [["auth", "mfa"], ["mfa"]]) {
    mfaEnabled = true;
    expect(await enable(noun)).toMatchObject({
      code: "MFA_ALREADY_ENABLED",
      message: "The second factor is on already",
    });
    mfaEnabled = false;
    expect((await enable(noun)).code).toBe("NO_PENDING_MFA_SETUP");
  }
  finished = false;
  mfaEnabled = true;
});
