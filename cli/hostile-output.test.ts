import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, refusal, type Stub, stubServer } from "#sdk/stub-server";
import { prompterOf } from "./prompt.ts";
import { toYaml } from "./provisioning/to-yaml.ts";
import type { Shell } from "./shell.ts";
import { commandLine, specs } from "./test-commands.ts";
import { testCommand } from "./test-shell.ts";

/** What a machine, a customer or a file may be called. */
const hostile =
  "::error::x ##vso[task.complete] ##[group]\r\n::add-mask::y\n##vso[task]\t\u001b[2J\u001b]0;t\u0007\u007f\u0085\u009b31m\u202e\u2066\u2028";
const forbidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/;
const obeyed = /^\s*::[^\n]*::|##\w*\[/m;

const command = testCommand();
let stub: Stub;
/** Every key holds the hostile text, whatever an endpoint answers. */
const anything = (depth = 0): unknown =>
  new Proxy(
    {},
    {
      ownKeys: () => names,
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      get: (_target, name) => (name === "toJSON" ? undefined : name === "nested" && depth < 1 ? anything(1) : hostile),
    },
  );
const names = ["id", "name", "hostname", "slug", "email", "error", "message", "key", "nested", hostile];
const row = { ...(anything() as object) };
let answer: () => Reply = () => ({ body: {} });

beforeAll(async () => {
  stub = await stubServer(() => answer());
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(argv, { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token", NO_COLOR: "1", ...options.env } });

const harmless = ({ stdout, stderr }: { stdout: string; stderr: string }, what: string) => {
  for (const text of [stdout, stderr]) {
    expect(text, what).not.toMatch(forbidden);
    expect(text, what).not.toMatch(obeyed);
  }
};

const answers = {
  "a list": () => ({ body: { data: [row], pagination: { page: 1, limit: 50, total: 1 }, entries: [row] } }),
  "a row": () => ({ status: 200, body: row }),
  "a refusal": () => ({
    status: 409,
    body: { error: hostile, code: "SLUG_TAKEN", details: { required: hostile, [hostile]: hostile } },
  }),
  "a wrong body": () => ({
    status: 400,
    body: { error: hostile, code: "VALIDATION_ERROR", details: [{ path: hostile, message: hostile }, hostile] },
  }),
};

describe("what servers say reaches no terminal, pipe or log as a command", () => {
  it.each(Object.entries(answers))(
    "every command prints %s harmlessly in every form",
    async (_name, body) => {
      answer = body;
      let shown = 0;
      for (const spec of await specs()) {
        const { argv, stdin } = commandLine(spec);
        for (const [tty, more] of [
          [true, ["--debug"]],
          [false, []],
          [false, ["--json"]],
        ] as const) {
          const ran = await run([...argv, ...more, "--no-input"], { tty, ...(stdin === undefined ? {} : { stdin }) });
          harmless(ran, [...argv, ...more].join(" "));
          if (more[0] === "--json" && ran.stdout.startsWith("{")) JSON.parse(ran.stdout);
          if (/\\u001b\[2J/.test(ran.stdout + ran.stderr)) shown += 1;
        }
      }
      expect(shown).toBeGreaterThan(100);
    },
    240_000,
  );
});

describe("what arguments and files say reaches none either", () => {
  it.each([
    ["an unknown command", ["devices", hostile]],
    ["an unknown flag", ["devices", "list", `--${hostile}`]],
    ["a wrong value", ["devices", "list", "--status", hostile]],
    ["a field that is not there", ["devices", "list", `--json=${hostile}`]],
    ["an organization that is not there", ["devices", "list", "--org", hostile]],
    ["a file that is not there", ["contacts", "create", "-f", hostile]],
    ["a path of the API", ["api", "GET", `/${hostile}`]],
    ["a profile that is not there", ["devices", "list", "--profile", hostile]],
    ["a dry run", ["organizations", "create", "--name", hostile, "--slug", "a", "--dry-run"]],
    ["a filter", ["devices", "list", "--jq", hostile]],
  ])("%s", async (what, argv) => {
    answer = answers["a list"];
    for (const more of [[], ["--json"], ["--debug"]])
      for (const tty of [true, false]) harmless(await run([...argv, ...more], { tty }), what);
  });

  it("a provisioning file, its plan, and what an import reads", async () => {
    answer = () => refusal(404, "NOT_FOUND");
    const cases: [string, string, string[]][] = [
      [
        "book.yaml",
        `organizations: [{ slug: a, name: ${JSON.stringify(hostile)}, type: ${JSON.stringify(hostile)} }]`,
        ["plan"],
      ],
      ["book.json", JSON.stringify({ organizations: [{ slug: hostile, [hostile]: 1 }] }), ["diff"]],
      ["broken.yaml", `a: [${hostile}`, ["apply", "--yes"]],
      [
        "book.csv",
        `Company,Email,${JSON.stringify(hostile)}\n${JSON.stringify(hostile)},${hostile.split("\r")[0]},x\n`,
        ["import"],
      ],
    ];
    for (const [name, text, words] of cases) {
      const path = join(command.dir, name);
      writeFileSync(path, text);
      for (const more of [[], ["--json"]])
        for (const tty of [true, false])
          harmless(await run([words[0]!, path, ...words.slice(1), ...more], { tty }), name);
    }
  });

  it("questions and what can be chosen", async () => {
    const stdin = new PassThrough();
    const stderr = new PassThrough();
    let written = "";
    stderr.on("data", (chunk: Buffer) => {
      written += chunk.toString();
      if (written.includes("error")) setTimeout(() => stdin.write("\n"), 20);
    });
    const shell = { stdin, stderr, signal: new AbortController().signal } as unknown as Shell;
    expect(await prompterOf(shell).choose(`Which ${hostile}?`, [hostile, "b"])).toBe(hostile);
    expect(written).toContain("\\u001b[2J");
    expect(written).not.toMatch(/\u001b\[2J|\u001b\]0;|[\u0007\u0085\u009b\u202e\u2066\u2028]/);
    expect(written).not.toMatch(/##\w*\[/);
  });

  it("YAML says the same as before", async () => {
    const { parse } = await import("yaml");
    const file = { organizations: [{ name: hostile, settings: { [hostile]: [hostile, "plain", 1] } }] };
    const text = await toYaml(file, hostile);
    expect(text).not.toMatch(forbidden);
    expect(text).not.toMatch(obeyed);
    expect(parse(text)).toEqual(file);
  });
});

it("nothing is written but through the one place that escapes", () => {
  const sources = (readdirSync("cli", { recursive: true }) as string[]).filter(
    (path) => path.endsWith(".ts") && !/(^|\/)(test-[\w-]+|.*\.test)\.ts$/.test(path),
  );
  const writes = /(stdout|stderr)\b[\])]*\.write\(|shell\[\w+\]\.write\(|console\.\w+\(/;
  const found = sources.filter((path) => writes.test(readFileSync(join("cli", path), "utf8")));
  // The process that asks the keychain answers its parent in JSON.
  expect(found.toSorted()).toEqual(["profile/keychain-process.ts", "shell.ts", "start.ts"]);
});
