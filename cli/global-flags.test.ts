import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import { commandsOf } from "./generic/commands-of.ts";
import { type GlobalFlag, globalFlagList } from "./globals.ts";
import type { CommandSpec } from "./manifest.ts";
import { takesFlag } from "./taken-flags.ts";
import { commandLine } from "./test-commands.ts";
import { type Leaf, leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";
import { writtenLines } from "./test-written-lines.ts";

const command = testCommand();
const tokenFile = join(command.dir, "token.txt");
const files = join(command.dir, "files");
let stub: Stub;
let written: ReturnType<typeof writtenLines>;

beforeAll(async () => {
  stub = await stubServer(() => ({ body: { id: "1" } }));
  mkdirSync(files);
  writeFileSync(tokenFile, "token-of-bo");
  written = writtenLines(files);
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const samples: Partial<Record<GlobalFlag, string>> = {
  server: "http://127.0.0.1:9",
  profile: "other",
  org: "contoso-dental",
  site: "HQ",
  jq: ".",
  columns: "id",
  limit: "1",
  confirm: "slug-of-it",
  timeout: "9s",
  "idempotency-key": "key-of-mine",
};

/** The flag with a value, as it is typed. */
const typed = (flag: GlobalFlag): string[] => {
  if (flag === "json=") return ["--json=id"];
  if (flag === "token-file") return ["--token-file", tokenFile];
  const value = samples[flag];
  return value === undefined ? [`--${flag}`] : [`--${flag}`, value];
};

const allFlags: readonly GlobalFlag[] = [...globalFlagList.map(({ name }) => name), "json="];

async function specOf({ path }: Leaf): Promise<CommandSpec | undefined> {
  const [noun = "", name = ""] = path.slice(-2);
  return (await commandsOf(noun)).find((one) => one.name === name);
}

async function lineOf(leaf: Leaf): Promise<{ argv: readonly string[]; stdin?: string }> {
  const name = leaf.path.join(" ");
  const line = written[name];
  if (line) return { ...line, argv: [...leaf.path, ...line.argv] };
  const spec = await specOf(leaf);
  if (spec === undefined) throw new Error(`\`${name}\` has no line in test-written-lines.ts`);
  const { argv, stdin } = commandLine(spec);
  return { argv: [...leaf.path, ...argv.slice(2)], ...(stdin === undefined ? {} : { stdin }) };
}

describe("a global flag that a command does not take", () => {
  it("is refused before anything happens, on every command", async () => {
    let refused = 0;
    for (const leaf of await leaves()) {
      const line = await lineOf(leaf);
      for (const flag of allFlags.filter((one) => !takesFlag(leaf.command, one))) {
        const { argv, stdin } = line;
        const name = [...argv, ...typed(flag)].join(" ");
        const ran = await command.run([...argv, ...typed(flag)], {
          env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
          ...(stdin === undefined ? {} : { stdin }),
        });
        expect(ran, name).toMatchObject({ code: 2, stdout: "" });
        expect(ran.stderr, name).toContain(flag === "json=" ? "--json=" : `--${flag}`);
        expect(ran.stderr, name).toContain("does not take");
        refused++;
      }
    }
    expect(stub.seen).toEqual([]);
    expect(readdirSync(files)).toEqual([]);
    expect(refused).toBeGreaterThan(500);
  });

  it("is not in the command's help, and one that it takes is", async () => {
    for (const { path, command: leaf } of await leaves()) {
      const { stdout } = await command.run([...path, "--help"]);
      const shown = stdout.slice(stdout.indexOf("\nGlobal flags "));
      for (const { name, flag } of globalFlagList) {
        const listed = new RegExp(` ${flag}( |$)`, "m").test(shown);
        expect(listed, `${path.join(" ")} ${flag}`).toBe(takesFlag(leaf, name));
      }
    }
  });

  it("is not offered by the completion", async () => {
    const { stdout } = await command.run(["__complete", "--", "server", "create-admin", "--d"]);
    expect(stdout).toContain("--data-dir");
    expect(stdout).not.toContain("--dry-run");
  });

  it("of the environment or the profile is no flag: a default organization disturbs nobody", async () => {
    const ran = await command.run(["service-status", "live"], {
      env: { RMM_SERVER: stub.url, RMM_ORG: "contoso-dental" },
    });
    expect(ran.code).toBe(0);
  });
});

it("--version belongs to the command that has one of its own, and is no flag of the others", async () => {
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
  const argv = ["configuration-policies", "update", "01a229ab-1b49-77c4-8ab6-76888bff2518", "--version", "3"];
  const ran = await command.run([...argv, "--description", "x", "--dry-run"], { env });
  expect(ran.code).toBe(0);
  expect(ran.stdout).toContain('"version": 3');
  expect(await command.run(["devices", "list", "--version"], { env })).toMatchObject({ code: 2, stdout: "" });
  expect((await command.run(["--version", "--quiet"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it("--org names the organization whose only row a PUT replaces, and moves no row", async () => {
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
  const org = ["--org", "01a229aa-4285-7705-9355-4a25d225e721", "--dry-run"];
  const replace = ["pam-config", "replace", "--default-unmatched-verdict", "auto_deny"];
  expect((await command.run([...replace, ...org], { env })).stdout).toContain(`"orgId": "${org[1]}"`);
});

it("server create-admin --dry-run makes no administrator", async () => {
  const data = join(command.dir, "none");
  const argv = ["server", "create-admin", "--email", "a@b.example", "--password-stdin", "--data-dir", data];
  const ran = await command.run([...argv, "--dry-run"], { stdin: "Long-Enough-Secret-1!" });
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(() => readdirSync(data)).toThrow("ENOENT");
  rmSync(data, { recursive: true, force: true });
});
