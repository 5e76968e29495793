import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteFile, SqliteUnavailable } from "#server/db/dialect/sqlite-library";
import { testCommand } from "../../test-shell.ts";
import { allowListsCheck } from "./check-allow-lists.ts";
import { driverCheck } from "./check-database.ts";
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

  it("events shows what a consumer could not take, and hands it out again", async () => {
    expect(await server("events", "--json")).toMatchObject({ code: 0, stdout: "[]\n" });
    const file = openSqliteFile(join(dataDir, "rmm.db"));
    const [webhooks, gone] = [randomUUID(), randomUUID()];
    const event = file.prepare(
      "insert into events (position, id, kind, subject_type, subject_id, data, occurred_at) values (?, ?, 'site.created', 'site', ?, '{}', '2026-11-29T10:00:00.000Z')",
    );
    const aside = file.prepare("insert into set_aside_events values (?, ?, '2026-11-29T10:06:00.000Z')");
    event.run(1, webhooks, randomUUID());
    event.run(2, gone, randomUUID());
    aside.run("webhooks", webhooks);
    aside.run("of an older version", gone);
    const shown = JSON.parse((await server("events", "--json")).stdout);
    expect(shown).toMatchObject([{ eventId: webhooks, kind: "site.created", consumer: "webhooks" }, { eventId: gone }]);
    const retried = await server("events", "--retry", "--json");
    expect(retried.code).toBe(9);
    expect(JSON.parse(retried.stdout)).toMatchObject([
      { eventId: webhooks, outcome: "handed out", reason: null },
      { eventId: gone, outcome: "failed", reason: "this version has no such consumer" },
    ]);
    expect(file.prepare("select event_id from set_aside_events").all()).toEqual([{ event_id: gone }]);
    file.close();
  });

  it("create-admin prints the id, and refuses a second with the same address", async () => {
    const made = await server("create-admin", "--email", "Ana@Contoso.example", "--password-stdin");
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect((await server("create-admin", "--email", "ana@contoso.example", "--password-stdin")).code).toBe(6);
  });

  it("create-admin --if-not-exists leaves an administrator alone, and no other account passes for one", async () => {
    const create = (email: string, stdin: string) =>
      command.run(
        [
          "server",
          "create-admin",
          "--email",
          email,
          "--password-stdin",
          "--if-not-exists",
          "--json",
          "--data-dir",
          dataDir,
        ],
        { stdin },
      );
    const first = JSON.parse((await create("ci@contoso.example", "Correct-Horse-9\n")).stdout);
    expect(first.outcome).toBe("done");
    const file = openSqliteFile(join(dataDir, "rmm.db"));
    const hash = () => file.prepare("select password_hash from users where id = ?").get(first.id);
    const before = hash();
    const again = await create("CI@contoso.example", "Another-Horse-9\n");
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ id: first.id, outcome: "exists" });
    expect(hash()).toEqual(before);
    file.prepare("update users set is_platform_admin = 0 where id = ?").run(first.id);
    const other = await create("ci@contoso.example", "Correct-Horse-9\n");
    expect(other).toMatchObject({ code: 6, stdout: "" });
    expect(other.stderr).toContain("no active system administrator");
    file.close();
  });

  it("audit-bundle -o tells programs where it is, and goes over nothing", async () => {
    const path = join(command.dir, "system.ndjson");
    const bundle = () => server("audit-bundle", "--system", "-o", path, "--json");
    const made = await bundle();
    expect(made.code, made.stderr).toBe(0);
    const text = readFileSync(path, "utf8");
    expect(JSON.parse(made.stdout)).toEqual({
      path,
      lines: text.trimEnd().split("\n").length,
      publicKeys: [JSON.parse(text.split("\n")[0] as string).publicKey].filter((key) => key !== null),
    });
    expect(await bundle()).toMatchObject({ code: 2, stdout: "" });
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("create-admin names everything that is missing, and refuses a weak password without showing it", async () => {
    expect((await server("create-admin")).stderr).toContain("--email, --password-file or --password-stdin");
    const weak = await command.run(["server", "create-admin", "--email", "b@c.example", "--password-stdin"], {
      stdin: "weakling\n",
    });
    expect(weak.code).toBe(2);
    expect(weak.stderr).not.toContain("weakling");
  });

  it("create-admin says what a password must be before it asks, and refuses a weak one before it asks again", async () => {
    const asked: string[] = [];
    const argv = ["server", "create-admin", "--email", "c@d.example", "--data-dir", dataDir];
    expect((await command.run(argv, { tty: true, answers: [] })).stderr).toMatch(/^The password takes 8 to 128 char/);
    const ran = await command.run(argv, { tty: true, answers: ["weakling"], asked });
    expect([ran.code, asked]).toEqual([2, ["Password"]]);
    expect(ran.stderr).toContain("must have an upper-case letter");
    const word = "Correct-Horse-9";
    expect((await command.run(argv, { tty: true, answers: [word, word] })).code).toBe(0);
  });

  it("doctor fails when others can read the server's secrets, and says what to do", async () => {
    expect(await doctor()).toMatchObject({
      code: 0,
      status: { database: "ok", migrations: "ok", writes: "ok", settings: "ok", "secrets file": "ok" },
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

  it.each([["audit-bundle --system -o bundle.ndjson"], ["rescue ana@contoso.example"], ["events"], ["events --retry"]])(
    "%s asks for the folder of the server that is there, and makes nothing in another",
    async (line) => {
      const other = mkdtempSync(join(command.dir, "other-"));
      const argv = ["server", ...line.split(" ")];
      const none = await command.run([...argv, "--data-dir", join(other, "none")]);
      expect([none.code, none.stderr]).toEqual([3, expect.stringMatching(/There is no database .*rmm\.db/)]);
      // The database of one server with the folder of none: its secrets would be made, and be those of another.
      const mixed = ["--data-dir", join(other, "none"), "--database-url", `sqlite:${join(dataDir, "rmm.db")}`];
      const half = await command.run([...argv, ...mixed]);
      expect([half.code, half.stderr]).toEqual([2, expect.stringContaining("no server has kept one in")]);
      expect(half.stderr).toContain("--data-dir");
      expect(readdirSync(other)).toEqual([]);
      expect(existsSync("bundle.ndjson")).toBe(false);
    },
  );

  it("a wrong setting is wrong usage, and named", async () => {
    const ran = await command.run(["server", "start", "--port", "99999", "--data-dir", dataDir]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("PORT");
  });
});

describe("what doctor says about allow-lists", () => {
  it("warns where clients can choose the address that they are judged by", () => {
    expect([allowListsCheck(2, true).status, allowListsCheck(2, false).status]).toEqual(["warn", "ok"]);
    expect([allowListsCheck(0, true).status, allowListsCheck(undefined, true).status]).toEqual(["ok", "skip"]);
    expect(allowListsCheck(1, true).message).toContain("1 partner principal may come");
  });
});

describe("what doctor says about Node", () => {
  const status = (version: string, day: string) => nodeCheck(version, Date.parse(day)).status;

  it("refuses one that is too old", () => {
    const versions = ["18.20.0", "20.18.3", "20.19.0", "21.7.3", "22.1.0", "26.10.0"];
    expect(versions.map((version) => status(version, "2026-02-01"))).toEqual([
      "fail",
      "fail",
      "ok",
      "fail",
      "ok",
      "ok",
    ]);
  });

  it("warns from the day after its support ended, and names a newer one", () => {
    expect([status("20.19.0", "2026-04-30T23:59:59Z"), status("20.19.0", "2026-05-01")]).toEqual(["ok", "warn"]);
    expect([status("22.23.3", "2027-04-30"), status("22.23.3", "2027-05-01")]).toEqual(["ok", "warn"]);
    expect([status("24.21.0", "2028-04-30"), status("24.21.0", "2028-05-01")]).toEqual(["ok", "warn"]);
    expect(nodeCheck("20.20.2", Date.parse("2026-11-28"))).toMatchObject({
      message: "Node 20.20.2, whose support ended on 2026-04-30",
      remedy: "Install Node 24, which is supported until 2028-04-30",
    });
  });
});

describe("what doctor says about the SQLite driver", () => {
  it("names it and its SQLite, as this Node loads it", async () => {
    const ran = await server("doctor", "--json");
    const checks = JSON.parse(ran.stdout) as { check: string; message: string }[];
    const major = Number(process.versions.napi) >= 10 ? "13" : "12";
    expect(checks.find(({ check }) => check === "sqlite driver")?.message).toMatch(
      new RegExp(`^better-sqlite3 ${major}\\.\\d+\\.\\d+ \\(SQLite 3\\.\\d+\\.\\d+\\)$`),
    );
  });

  it("fails with the remedy where it does not load, unless the database is Postgres", () => {
    const missing = new SqliteUnavailable(new Error("Cannot find module 'x'\nRequire stack"), "Compile it");
    expect(driverCheck(missing, false)).toMatchObject({ status: "fail", remedy: "Compile it" });
    expect(driverCheck(missing, true)).toMatchObject({ status: "skip" });
    expect(driverCheck(missing, true).message).toContain("(Cannot find module 'x')");
  });
});
