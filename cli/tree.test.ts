import type { Option } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { areas } from "#contract/areas";
import { type Stub, stubServer } from "#sdk/stub-server";
import { commandGroups } from "./commands/index.ts";
import { nouns } from "./generated/nouns.ts";
import { fieldsOf } from "./generic/fields.ts";
import { globalFlagList, globalFlagNames } from "./globals.ts";
import { spellingOf } from "./noun-aliases.ts";
import { takesFlag } from "./taken-flags.ts";
import { commandLine, ANY_ID as ID, specs, tokenFor } from "./test-commands.ts";
import { leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";

const command = testCommand();
let stub: Stub;
let answer: unknown;
beforeAll(async () => {
  stub = await stubServer(() => ({ body: answer }));
});
afterAll(async () => {
  await stub.close();
  command.close();
});

describe("every command", () => {
  it("has help that starts with examples", async () => {
    for (const { path } of await leaves()) {
      const ran = await command.run([...path, "--help"]);
      expect(ran.code, path.join(" ")).toBe(0);
      expect(ran.stdout, path.join(" ")).toMatch(/^Examples:\n {2}(rmm|source|curl) /);
      expect(ran.stdout, path.join(" ")).toContain("--json");
      // Believable values: what is pasted must be of the kind that the command takes.
      expect(ran.stdout.split(/^Usage:/m)[0], path.join(" ")).not.toMatch(/<[\w-]+>/);
      expect(ran.stderr).toBe("");
    }
  });

  it("shows its own flags first, then the global ones by name: those it takes, of a group those its commands take", async () => {
    const taken = new Map<string, Set<string>>();
    const shownBy = async (path: readonly string[]) => {
      const { stdout } = await command.run([...path, "--help"]);
      const [own = "", global = ""] = stdout.split(/^(?=Global flags )/m);
      return { own, flags: global.split(/\s+/).filter((word) => word.startsWith("--")) };
    };
    for (const { path, command: leaf } of await leaves()) {
      const { own, flags } = await shownBy(path);
      const ofLeaf = globalFlagList.filter(({ name }) => takesFlag(leaf, name)).map(({ flag }) => flag);
      expect(flags, path.join(" ")).toEqual(ofLeaf);
      for (const { long, hidden } of leaf.options) if (!hidden) expect(own).toContain(long);
      for (let end = 1; end < path.length; end++) {
        const group = path.slice(0, end).join(" ");
        taken.set(group, new Set([...(taken.get(group) ?? []), ...flags]));
      }
    }
    expect(taken.size).toBeGreaterThan(20);
    for (const [group, flags] of taken) expect(new Set((await shownBy(group.split(" "))).flags), group).toEqual(flags);
  });

  it("has help within 80 columns, examples too", async () => {
    const paths = (await leaves()).flatMap(({ path }) => path.map((_word, at) => path.slice(0, at + 1).join(" ")));
    const long: string[] = [];
    for (const path of ["", ...new Set(paths)]) {
      const { stdout } = await command.run([...path.split(" ").filter(Boolean), "--help"]);
      const lines = stdout.split("\n").filter((line) => line.length > 80);
      if (/\n\n\n|\n\n$/.test(stdout)) long.push(`${path}: has a blank line too many`);
      long.push(...lines.map((line) => `${path}: ${line}`));
    }
    expect(long).toEqual([]);
  });

  it("is described in lines that end with a sentence; the terminal breaks the others", async () => {
    for (const { path, command } of await leaves())
      expect(command.description(), path.join(" ")).not.toMatch(/[^.:;)\n]\n/);
  });

  it("is explained by topics that fit every terminal, and are tabs in a pipe", async () => {
    for (const topic of ["flags", "exit-codes", "environment"]) {
      const { stdout } = await command.run(["help", topic]);
      expect(stdout, topic).toMatch(/^(\S[^\t\n]*\t[^\t\n]{8,}\n)+$/);
      for (const columns of [80, 60]) {
        const shown = await command.run(["help", topic], { tty: true, columns });
        expect(shown.stdout).not.toContain("\t");
        for (const line of shown.stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
        expect(shown.stdout.replaceAll(/\s/g, "")).toBe(stdout.replaceAll(/\s/g, ""));
      }
    }
    const { stdout } = await command.run(["help", "flags"]);
    for (const name of globalFlagNames) expect(stdout).toMatch(new RegExp(`^--(no-)?${name}( <[a-z]+>)?\t.{10}`, "m"));
  });

  it("says of every flag what it is for, beyond its name, and of JSON its shape and an example", async () => {
    const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "");
    for (const { noun, name, query, body } of await specs()) {
      for (const field of [...query, ...body]) {
        const where = `${noun} ${name} --${field.flag}`;
        expect(field.description, where).toBeDefined();
        if (field.name !== "password") expect(plain(field.description!), where).not.toBe(plain(field.name));
        if (field.type !== "object" && field.itemType !== "object") continue;
        expect(field.shape, where).toMatch(/^(\{.+\}|[a-z|]+)$/);
        expect(Object.keys(JSON.parse(field.example!)).length, where).toBeGreaterThan(0);
        const { stdout } = await command.run([noun, name, "--help"]);
        expect(stdout.replaceAll(/\s+/g, ""), where).toContain(field.example!.replaceAll(/\s+/g, ""));
      }
    }
  });

  it("states permission, credential, MFA and audit action when it is an endpoint's", async () => {
    for (const { noun, name, access, audit } of await specs()) {
      const { stdout } = await command.run([noun, name, "--help"]);
      for (const permission of access.permissions) expect(stdout).toContain(permission);
      expect(stdout).toMatch(/^Credential: /m);
      expect(stdout).toMatch(access.mfa ? /^MFA: +needed$/m : /^MFA: +not needed$/m);
      expect(stdout).toMatch(new RegExp(`^Audit: +${audit?.replaceAll(".", "\\.") ?? "no entry"}$`, "m"));
    }
  });

  it("takes no secret as the value of a flag, and no flag that hides a global one", async () => {
    const takesText = (option: Option) => option.required || option.optional;
    for (const { path, command: leaf } of await leaves()) {
      for (const option of leaf.options) {
        const name = option.long?.slice(2) ?? "";
        if (
          takesText(option) &&
          !["public-key", "field-key", "exit-code", "error-code"].includes(name) &&
          /(^|-)(password|token|secret|code|key)$/.test(name)
        ) {
          throw new Error(`${path.join(" ")} takes --${name} VALUE`);
        }
        if (!(path[0] === "api" && name === "input"))
          expect(globalFlagNames.has(name), `${path.join(" ")} --${name}`).toBe(false);
      }
    }
    for (const spec of await specs()) {
      for (const { spec: field, flag } of fieldsOf(spec)) {
        if (!field.secret) continue;
        const { stdout } = await command.run([spec.noun, spec.name, "--help"]);
        expect(flag, `${spec.noun} ${spec.name}: name the flag of ${field.name}`).not.toMatch(/^field-/);
        expect(stdout).toContain(`--${flag}-stdin`);
        expect(stdout).not.toMatch(new RegExp(`--${flag} <`));
      }
    }
  });

  it("is listed in the help under the heading of its area, or before all areas", async () => {
    const { stdout } = await command.run(["--help"]);
    const sections = stdout.split(/^(?=\S.*:$)/m).map((text) => text.split("\n"));
    const under = (heading: string) => sections.find(([first]) => first === `${heading}:`)?.join("\n") ?? "";
    for (const { noun, area, summary } of nouns) {
      const words = summary.split(" ").slice(0, 3).join(" ");
      if (!(noun in commandGroups))
        expect(under(areas[area]), noun).toMatch(new RegExp(`^  ${spellingOf(noun)} +${words}`, "m"));
    }
    for (const [name, { hidden, area }] of Object.entries(commandGroups))
      expect(new RegExp(`^  ${name} `, "m").test(under(area === undefined ? "Commands" : areas[area])), name).toBe(
        !hidden,
      );
    const headings = sections.map(([first]) => first?.replace(/:$/, ""));
    // An area may have tables before it has commands.
    const inUse = new Set<string | undefined>([...nouns, ...Object.values(commandGroups)].map(({ area }) => area));
    const wanted = Object.entries(areas).flatMap(([area, heading]) => (inUse.has(area) ? [heading] : []));
    expect(headings.slice(headings.indexOf("Commands") + 1)).toEqual(wanted);
  });

  it("exists for every endpoint of the manifest", async () => {
    const known = new Set((await leaves()).map(({ path }) => path.join(" ")));
    for (const { noun, name } of await specs()) expect(known).toContain(`${noun} ${name}`);
  });
});

describe("--json on every endpoint's command (C50)", () => {
  const env = (token = "token-of-ana") => ({ RMM_SERVER: stub.url, RMM_TOKEN: token });

  it("prints one JSON document on success, on a terminal and in a pipe", async () => {
    for (const spec of await specs()) {
      const token = tokenFor(spec.access);
      const { argv, stdin } = commandLine(spec);
      const pair = { accessToken: "access-token", refreshToken: "refresh-token", user: { email: "a@b.example" } };
      const one = { id: ID, slug: "slug-of-it", name: "It\u001b[31m", ...pair };
      answer = spec.paging ? { [spec.paging.items]: [one], pagination: { page: 1, limit: 50, total: 1 } } : one;
      for (const tty of [false, true]) {
        const ran = await command.run([...argv, "--json"], {
          env: env(token),
          tty,
          ...(stdin === undefined ? {} : { stdin }),
        });
        expect(ran, argv.join(" ")).toMatchObject({ code: 0 });
        expect(JSON.parse(ran.stdout)).toBeDefined();
        expect(ran.stdout).not.toContain("\u001b");
      }
    }
  });

  it("prints an error as JSON on stderr and nothing on stdout, for wrong usage too", async () => {
    for (const argv of [
      ["nope", "--json"],
      ["sites", "get", "--json"],
      ["sites", "list", "--jsn", "--json"],
      ["sites", "list", "--json", "--limit", "x"],
    ]) {
      const ran = await command.run(argv, { env: env() });
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(Object.keys(JSON.parse(ran.stderr).error)).toEqual([
        "code",
        "message",
        "status",
        "requestId",
        "details",
        "hint",
      ]);
    }
  });
});

describe("a device's endpoints", () => {
  it("refuse a person's credential here, naming the one they take", async () => {
    for (const spec of await specs()) {
      if (!spec.access.kinds.every((kind) => kind === "agent")) continue;
      const { argv } = commandLine(spec);
      const ran = await command.run([...argv, "--json"], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
      expect(ran.code).toBe(4);
      expect(ran.stderr).toContain("a device token");
    }
  });
});

describe("a partner key (C09)", () => {
  it("works from RMM_API_KEY where the contract says, and is refused here everywhere else", async () => {
    const RMM_API_KEY = `svc_sp_${"a".repeat(43)}`;
    for (const spec of await specs()) {
      const { kinds } = spec.access;
      if (kinds.includes("public")) continue;
      const { argv, stdin } = commandLine(spec);
      answer = spec.paging ? { [spec.paging.items]: [], pagination: { page: 1, limit: 50, total: 0 } } : { id: ID };
      const ran = await command.run([...argv, "--json"], {
        env: { RMM_SERVER: stub.url, RMM_API_KEY },
        ...(stdin === undefined ? {} : { stdin }),
      });
      expect([spec.noun, spec.name, ran.code]).toEqual([spec.noun, spec.name, kinds.includes("partnerKey") ? 0 : 4]);
      expect(ran.stdout + ran.stderr).not.toContain(RMM_API_KEY);
    }
  });
});
