import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { testCommand } from "../../test-shell.ts";
import { nodeCheck } from "./check-machine.ts";

const command = testCommand();
const dataDir = join(command.dir, "data");
afterAll(command.close);

const server = (...argv: string[]) =>
  command.run(["server", ...argv, "--data-dir", dataDir], { stdin: "Correct-Horse-9\n" });
const doctor = async (...more: string[]) => {
  const ran = await server("doctor", "--json", ...more);
  const checks = JSON.parse(ran.stdout) as { check: string; status: string; remedy?: string }[];
  return { code: ran.code, status: Object.fromEntries(checks.map(({ check, status }) => [check, status])) };
};

describe("rmm server", () => {
  it("doctor makes nothing where no server has run", async () => {
    expect(await doctor()).toMatchObject({ code: 0, status: { database: "skip", settings: "skip", keychain: "warn" } });
  });

  it("migrate applies what is missing, and nothing the second time", async () => {
    expect(JSON.parse((await server("migrate", "--json")).stdout).length).toBeGreaterThan(0);
    expect(await server("migrate", "--json")).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  it("create-admin prints the id, and refuses a second with the same address", async () => {
    const made = await server("create-admin", "--email", "Ana@Contoso.example", "--password-stdin");
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect((await server("create-admin", "--email", "ana@contoso.example", "--password-stdin")).code).toBe(6);
  });

  it("create-admin names everything that is missing, and refuses a weak password without showing it", async () => {
    expect((await server("create-admin")).stderr).toContain("--email, --password-file or --password-stdin");
    const weak = await command.run(["server", "create-admin", "--email", "b@c.example", "--password-stdin"], {
      stdin: "weakling\n",
    });
    expect(weak.code).toBe(2);
    expect(weak.stderr).not.toContain("weakling");
  });

  it("doctor fails when others can read the server's secrets, and says what to do", async () => {
    expect(await doctor()).toMatchObject({
      code: 0,
      status: { database: "ok", migrations: "ok", settings: "ok", "secrets file": "ok" },
    });
    chmodSync(join(dataDir, "secrets.json"), 0o644);
    expect(await doctor()).toMatchObject({ code: 1, status: { "secrets file": "fail" } });
  });

  it("doctor reports a database that cannot be reached, without its password", async () => {
    const ran = await server("doctor", "--database-url", "postgres://u:Pass-Word-77@127.0.0.1:1/none");
    expect(ran.code).toBe(1);
    expect(ran.stdout + ran.stderr).not.toContain("Pass-Word-77");
    expect(ran.stdout).toContain("Check DATABASE_URL");
  });

  it("a wrong setting is wrong usage, and named", async () => {
    const ran = await command.run(["server", "start", "--port", "99999", "--data-dir", dataDir]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("PORT");
  });
});

it("knows which Node is too old", () => {
  expect(
    [nodeCheck("20.18.3"), nodeCheck("20.19.0"), nodeCheck("22.1.0"), nodeCheck("18.20.0")].map(({ status }) => status),
  ).toEqual(["fail", "ok", "ok", "fail"]);
});
