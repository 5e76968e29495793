import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, KEY, stubApi, writesOf } from "./test-api.ts";
import { testCommand } from "./test-shell.ts";

const command = testCommand();
const TOKEN = "user-token-of-ana";
const PASSWORD = "Correct-Horse-9";
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "POST /auth/login": ({ body }) => refusal(500, "INTERNAL_ERROR", { details: body as object }),
    "POST /auth/change-password": ({ body, headers }) =>
      refusal(400, "VALIDATION_ERROR", {
        error: `bad ${headers.authorization}`,
        details: [{ path: "newPassword", message: JSON.stringify(body) }],
      }),
    [`POST /enrollment-keys/${ids.twin}/rotate`]: () => ({ body: { id: ids.twin, name: "hq", key: KEY } }),
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(argv, { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: TOKEN, ...options.env } });

describe("a minted key", () => {
  const create = ["enrollment-keys", "create", "--org", "contoso-dental", "--name", "rollout"];

  it("is all that stdout gets; facts are on stderr without it", async () => {
    const ran = await run(create);
    expect(ran).toMatchObject({ code: 0, stdout: `${KEY}\n` });
    expect(ran.stderr).toContain("name: rollout");
    expect(ran.stderr).not.toContain(KEY);
  });

  it("goes to a new file that only its owner can read, and then nowhere else", async () => {
    const path = join(command.dir, "key");
    const ran = await run([...create, "--secret-file", path]);
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(path, "utf8")).toBe(`${KEY}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const json = await run([...create, "--json", "--secret-file", `${path}2`]);
    expect(JSON.parse(json.stdout)).not.toHaveProperty("key");
  });

  it("is not minted when its file exists already, and no empty file stays when minting fails", async () => {
    const path = join(command.dir, "taken");
    writeFileSync(path, "mine");
    const before = writesOf(stub).length;
    expect((await run([...create, "--secret-file", path])).code).toBe(2);
    expect(readFileSync(path, "utf8")).toBe("mine");
    expect(writesOf(stub).length).toBe(before);
    const other = join(command.dir, "left-over");
    expect((await run(["api-keys", "rotate", ids.hq, "--yes", "--secret-file", other])).code).toBe(3);
    expect(existsSync(other)).toBe(false);
  });

  it("is masked in the log of a workflow before it is printed", async () => {
    const ran = await run(["enrollment-keys", "rotate", ids.twin, "--yes"], { env: { GITHUB_ACTIONS: "true" } });
    expect(ran.stdout).toBe(`${KEY}\n`);
    expect(ran.stderr).toContain(`::add-mask::${KEY}\n`);
    expect(ran.stderr.indexOf("::add-mask::")).toBeLessThan(ran.stderr.indexOf("name: hq"));
  });

  it("is not minted again with --if-not-exists", async () => {
    const before = writesOf(stub).length;
    const ran = await run(["enrollment-keys", "create", "--org", "contoso-dental", "--name", "hq", "--if-not-exists"]);
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(ran.stderr).toContain("exists already");
    expect(writesOf(stub).length).toBe(before);
    expect((await run([...create, "--if-not-exists"])).stdout).toBe(`${KEY}\n`);
  });
});

describe("secrets in what is not data (C49)", () => {
  it("shows no password, token or key with --debug, nor when the server repeats them", async () => {
    const runs = [
      await run(["auth", "login", "--email", "a@b.example", "--password-stdin", "--store=file", "--debug"], {
        stdin: `${PASSWORD}\n`,
      }),
      await run(["passwords", "change", "--current-password-stdin", "--new-password-stdin", "--debug"], {
        stdin: `${PASSWORD}\n${PASSWORD}x\n`,
      }),
      await run(["enrollment-keys", "create", "--org", "contoso-dental", "--name", "x", "--debug"]),
      await run(["passwords", "change", "--current-password-stdin", "--new-password-stdin", "--dry-run"], {
        stdin: `${PASSWORD}\n${PASSWORD}x\n`,
      }),
    ];
    expect(runs.map(({ code }) => code)).toEqual([1, 1, 0, 0]);
    for (const { stderr, stdout } of runs) {
      expect(stderr).not.toContain(PASSWORD);
      expect(stderr).not.toContain(TOKEN);
      expect(stderr).not.toContain(KEY);
      expect(stdout).not.toContain(PASSWORD);
    }
    expect(runs[1]?.stderr).toContain("debug: > POST");
  });

  it("takes no secret as an argument, and does not repeat one that was tried", async () => {
    for (const argv of [
      ["auth", "login", `--password=${PASSWORD}`],
      ["passwords", "change", `--new-password=${PASSWORD}`],
      ["api", "POST", "/auth/login", "-f", `password=${PASSWORD}`],
    ]) {
      const ran = await run(argv);
      expect(ran.code).toBe(2);
      expect(ran.stdout + ran.stderr).not.toContain(PASSWORD);
    }
  });
});
