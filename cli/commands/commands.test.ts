import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
const all = Array.from({ length: 120 }, (_, index) => ({ id: `id-${index}` }));
let stub: Stub;
let slow: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "GET /devices": (_seen, query) => paged(all, query),
    "GET /things": (_seen, query) => paged(all, query),
    "POST /things": ({ body }) => ({ status: 201, body }),
    "GET /users/me": () => ({
      body: { email: "ana@contoso.example", name: "Ana", scope: "partner", roleName: "Admin" },
    }),
  });
  slow = await stubApi({ "GET /orgs": () => new Promise(() => undefined) });
});
afterAll(async () => {
  await Promise.all([stub.close(), slow.close()]);
  command.close();
});

const run = (argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(argv, { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", ...options.env } });

describe("a jq expression that does not fit", () => {
  const create = ["api", "POST", "/things", "-f", "name=x", "--jq"];

  it("is refused before anything is sent where it does not compile", async () => {
    const before = stub.seen.length;
    const ran = await run([...create, ".name |"]);
    expect([ran.code, ran.stdout, stub.seen.length]).toEqual([2, "", before]);
    expect(ran.stderr).toContain("Nothing was sent");
  });

  it("says that the change was made, and of a read nothing of the kind", async () => {
    const ran = await run([...create, ".name.first"]);
    expect([ran.code, ran.stdout, writesOf(stub).at(-1)?.body]).toEqual([1, "", { name: "x" }]);
    expect(ran.stderr).toMatch(/The change was made, but its result cannot be printed: --jq: .*Do not repeat it/);
    const read = await run(["api", "GET", "/things", "--jq", ".name.first.x[0]"]);
    expect([read.code, read.stderr.includes("change was made")]).toEqual([0, false]);
    expect((await run(["api", "GET", "/things", "--jq", ".data.first"])).stderr).not.toContain("change was made");
  });
});

describe("a command that another group has", () => {
  it("is named with that group", async () => {
    expect((await run(["audit", "user-activity"])).stderr).toContain("There is `rmm audit-logs user-activity`");
    expect((await run(["keys", "create"])).stderr).toContain("`rmm api-keys create`, `rmm enrollment-keys create`");
    expect((await run(["devices", "frob"])).stderr).toContain("`rmm devices --help` lists its commands");
  });
});

describe("rmm api", () => {
  it("puts fields into the query of GET and into the body otherwise", async () => {
    await run(["api", "get", "things", "-f", "limit=3"]);
    expect(stub.seen.at(-1)?.path).toBe("/api/v1/things?limit=3");
    const ran = await run(["api", "POST", "/api/v1/things", "-f", "name=x", "-F", "count=3", "-F", "on=true"]);
    expect(JSON.parse(ran.stdout)).toEqual({ name: "x", count: 3, on: true });
    const input = await run(["api", "POST", "/things", "--input", "-"], { stdin: '{"a":{"b":1}}' });
    expect(JSON.parse(input.stdout)).toEqual({ a: { b: 1 } });
  });

  it("joins all pages into one array, known path or not", async () => {
    for (const path of ["/devices", "/things"]) {
      expect(JSON.parse((await run(["api", "GET", path, "-f", "page=1", "--paginate"])).stdout)).toHaveLength(120);
    }
  });

  it("sends headers of its own with -H, but none that proves who calls", async () => {
    await run(["api", "GET", "/things", "-H", "X-Trace: abc:1", "-H", "accept-language:de"]);
    expect(stub.seen.at(-1)?.headers).toMatchObject({ "x-trace": "abc:1", "accept-language": "de" });
    const before = stub.seen.length;
    for (const header of ["Authorization: Bearer x", "x-api-key: k", "Cookie: a=b", "no colon", "sp ace: x"])
      expect((await run(["api", "GET", "/things", "-H", header])).code, header).toBe(2);
    expect(stub.seen.length).toBe(before);
  });

  it("shows status and headers with -i, and no answer with --silent", async () => {
    const shown = await run(["api", "POST", "/things", "-f", "name=x", "-i"]);
    expect(shown.stdout).toMatch(/^HTTP 201\n(\S+: .*\n)*x-request-id: req-\d+\n/);
    expect(JSON.parse(shown.stdout.split("\n\n")[1]!)).toEqual({ name: "x" });
    const refused = await run(["api", "GET", "/nothing", "-i"]);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toMatch(/^HTTP 404\n(\S+: .*\n)*x-request-id: req-\d+\n(\S+: .*\n)*\nrmm: /);
    expect((await run(["api", "GET", "/things", "-i", "--paginate"])).code).toBe(2);
    expect(await run(["api", "GET", "/things", "--silent"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect((await run(["api", "GET", "/nothing", "--silent"])).code).toBe(3);
  });

  it("sends its credential to the chosen server only", async () => {
    expect((await run(["api", "GET", "https://elsewhere.example/devices"])).code).toBe(2);
    expect((await run(["api", "GET", "//elsewhere.example/devices"])).code).toBe(2);
  });
});

describe("profiles", () => {
  const env = { RMM_CONFIG_DIR: join(command.dir, "profiles"), RMM_TOKEN: undefined, RMM_SERVER: undefined };
  const profile = (...argv: string[]) => command.run(argv, { env });

  it("are added, used, listed and removed", async () => {
    expect((await profile("profile", "add", "prod", "--server", "RMM.example/", "--org", "contoso-dental")).code).toBe(
      0,
    );
    expect(
      (await profile("profile", "add", "lab", "--server", "http://127.0.0.1:4000/api/v1", "--output", "json")).code,
    ).toBe(0);
    const listed = JSON.parse((await profile("profile", "list", "--json")).stdout);
    expect(listed).toEqual([
      {
        name: "prod",
        current: true,
        server: "https://rmm.example",
        org: "contoso-dental",
        output: "auto",
        accounts: [],
      },
      { name: "lab", current: false, server: "http://127.0.0.1:4000", org: null, output: "json", accounts: [] },
    ]);
    expect((await profile("profile", "use", "lab")).code).toBe(0);
    expect((await profile("profile", "use", "prd")).stderr).toContain("did you mean prod?");
    expect((await profile("profile", "remove", "lab")).code).toBe(2);
    expect((await profile("profile", "remove", "lab", "--yes")).code).toBe(0);
    expect(JSON.parse(readFileSync(join(env.RMM_CONFIG_DIR, "config.json"), "utf8"))).toMatchObject({
      current: "prod",
    });
  });

  it("give way to the environment, and that to flags; config explain tells which it was", async () => {
    const sourceOf = async (argv: string[], more = {}) => {
      const ran = await command.run(["config", "explain", "--json", ...argv], { env: { ...env, ...more } });
      const rows = JSON.parse(ran.stdout) as { name: string; value: string; source: string }[];
      return rows.find(({ name }) => name === "server");
    };
    expect(await sourceOf(["--profile", "prod"])).toMatchObject({
      value: "https://rmm.example",
      source: "profile prod",
    });
    expect(await sourceOf([], { RMM_SERVER: "http://a" })).toMatchObject({ value: "http://a", source: "RMM_SERVER" });
    expect(await sourceOf(["--server", "http://b"], { RMM_SERVER: "http://a" })).toMatchObject({
      value: "http://b",
      source: "--server",
    });
    expect((await command.run(["sites", "list", "--profile", "nope"], { env })).code).toBe(2);
  });
});

it("auth status names the source that won and who it is", async () => {
  const ran = await run(["auth", "status", "--json"]);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    source: "RMM_TOKEN",
    credential: "user",
    account: "ana@contoso.example",
  });
  expect(ran.stdout).not.toContain("token-of-ana");
});

describe("help", () => {
  it("prints every exit code", async () => {
    const { stdout } = await run(["help", "exit-codes"]);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => Number(line.split("\t")[0])),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 130]);
    expect(JSON.parse((await run(["help", "exit-codes", "--json"])).stdout)).toHaveLength(17);
  });

  it("finds the help of a command", async () => {
    expect((await run(["help", "devices", "list"])).stdout).toContain("Usage: rmm devices list");
    expect((await run([])).stdout).toContain("Usage: rmm <group>");
  });
});

describe("completion", () => {
  const complete = async (words: string[], env = {}) =>
    (await run(["__complete", "--", ...words], { env })).stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[0]);

  it("knows groups, commands, flags, values and live names", async () => {
    expect(await complete(["dev"])).toEqual(["device-commands", "device-groups", "device-logs", "devices"]);
    expect(await complete(["auth", "mfa", "step"])).toEqual(["step-up"]);
    expect(await complete(["devices", "list", "--sta"])).toEqual(["--status"]);
    expect(await complete(["devices", "list", "--status", "off"])).toEqual(["offline"]);
    expect(await complete(["organizations", "get", "con"])).toEqual(["contoso-dental"]);
    expect(await complete(["sites", "list", "--org", "fab"])).toEqual(["fabrikam"]);
    expect(await complete(["enrollment-keys", "create", "--org", "contoso-dental", "--site", ""])).toEqual(["HQ"]);
  });

  it("is silent within a second when the server does not answer", async () => {
    const started = performance.now();
    const ran = await run(["__complete", "--", "organizations", "get", ""], { env: { RMM_SERVER: slow.url } });
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(await run(["__complete", "--", "organizations", "get", ""], { env: { RMM_TOKEN: "" } })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("is a script that bash can read, and a name is never run by it", async () => {
    const script = (await run(["completion", "bash"])).stdout;
    const path = join(command.dir, "completion.bash");
    writeFileSync(
      path,
      `rmm() { printf '%s\\tabout\\n' '$(touch "${command.dir}/hacked")' plain; }\n${script}
COMP_WORDS=(rmm organizations get ""); COMP_CWORD=3; _rmm; printf '%s\\n' "\${COMPREPLY[@]}"; ls "${command.dir}"\n`,
    );
    const { stdout } = await promisify(execFile)("bash", [path]);
    expect(stdout).toContain("plain");
    expect(stdout.split("\n")).not.toContain("hacked");
    for (const shell of ["zsh", "fish", "powershell"])
      expect((await run(["completion", shell])).stdout).toContain("__complete");
    expect((await run(["completion", "basch"])).stderr).toContain("did you mean bash?");
  });
});

it("every hand-written command prints one JSON document with --json (C50)", async () => {
  const env = { RMM_CONFIG_DIR: join(command.dir, "json") };
  const lines = [
    ["profile", "add", "lab", "--server", stub.url],
    ["profile", "use", "lab"],
    ["profile", "list"],
    ["profile", "remove", "lab", "--yes"],
    ["config", "explain"],
    ["auth", "status"],
    ["auth", "token"],
    ["auth", "logout"],
    ["api", "GET", "/things"],
    ["completion", "bash"],
    ["help", "environment"],
    ["server", "doctor", "--data-dir", join(command.dir, "none")],
  ];
  for (const argv of lines) {
    const ran = await run([...argv, "--json"], { env });
    expect(ran.code, argv.join(" ")).toBe(0);
    expect(JSON.parse(ran.stdout), argv.join(" ")).toBeDefined();
  }
});

it("a key of a list is asked for once where it exists already", async () => {
  const before = writesOf(stub).length;
  const ran = await run([
    "enrollment-keys",
    "create",
    "--org",
    ids.contoso,
    "--name",
    "hq",
    "--if-not-exists",
    "--json",
  ]);
  expect(JSON.parse(ran.stdout)).toMatchObject({ name: "hq" });
  expect(writesOf(stub).length).toBe(before);
});
