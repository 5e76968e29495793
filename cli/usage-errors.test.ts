import { afterAll, describe, expect, it } from "vitest";
import { spellingOf } from "./noun-aliases.ts";
import { leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";

const command = testCommand();
afterAll(() => command.close());

/** What the parser of the command line says by itself. */
const raw = /error: |argument missing|unknown option|unknown command|too many arguments|Expected \d/;

const refused = async (...argv: string[]) => {
  const ran = await command.run(argv);
  expect([ran.code, ran.stdout], argv.join(" ")).toEqual([2, ""]);
  expect(ran.stderr, argv.join(" ")).not.toMatch(raw);
  return ran.stderr;
};

describe("a command line that is wrong", () => {
  it("is told in plain words, with the help of the very command, for every command and every flag with a value", async () => {
    let values = 0;
    for (const { path, command: leaf } of await leaves()) {
      const line = ["rmm", spellingOf(path[0]!), ...path.slice(1)].join(" ");
      const help = `\`${line} --help\` explains its flags and arguments`;
      const flag = await refused(...path, "--no-such-flag-of-it");
      expect(flag).toContain(`\`${line}\` has no flag --no-such-flag-of-it`);
      expect(flag).toContain(help);
      for (const { long, required } of leaf.options) {
        if (!long || !required) continue;
        const text = await refused(...path, long);
        expect(text).toContain(`${long} <`);
        expect(text).toContain("lacks its value");
        expect(text).toContain(help);
        values += 1;
      }
      if (leaf.registeredArguments.some(({ variadic }) => variadic)) continue;
      const most = leaf.registeredArguments.length;
      const more = await refused(...path, ...Array.from({ length: most + 1 }, (_, at) => `word-${at}`));
      expect(more).toContain(`\`${line}\` takes ${most === 0 ? "no arguments" : `at most ${most} argument`}`);
      expect(more).toContain(help);
    }
    expect(values).toBeGreaterThan(400);
  });

  it("names the commands of the group, or the one that was meant", async () => {
    expect(await refused("devices", "frob")).toContain("`rmm devices --help` lists its commands");
    expect(await refused("frob")).toContain("`rmm --help` lists its commands");
    expect(await refused("auth", "step-up")).toContain("There is `rmm auth mfa step-up`");
    expect(await refused("sites", "delete", "HQ")).toContain("There is `rmm sites remove`");
    expect(await refused("devices", "lst")).toContain("(did you mean list?)");
    expect(await refused("devices", "list", "--serch", "x")).toContain("(did you mean --search?)");
    const singular = await refused("device", "list");
    expect(singular).toContain("There is no command rmm device (did you mean devices?)");
    expect(singular).toContain("There is `rmm devices list`, ");
    expect(await refused("devices", "--json")).toContain("`rmm devices --help` lists its commands");
  });

  it("names the flag that ends as the one that was typed, and no secret where none was meant", async () => {
    const key = await refused("custom-fields", "create", "--key", "contract");
    expect(key).toContain("has no flag --key (did you mean --field-key?)");
    expect(key).not.toContain("Secrets");
    expect(await refused("auth", "login", "--secret", "x")).toContain("Secrets are read from a file");
  });

  it("names the flags that take what was given as an argument", async () => {
    expect(await refused("groups", "add-devices", "Tills", "till-1")).toContain(
      "Flags that it needs: --device-ids. `rmm",
    );
    expect(await refused("filters", "preview", "osType = macos")).toContain("--where");
    expect(await refused("audit", "list", "x")).not.toContain("Flags that it needs");
  });

  it("is told by the names that were typed, which may be short ones", async () => {
    const where = await refused("filters", "run", "x", "--where", "status = online");
    expect(where).toContain("`rmm filters run` has no flag --where");
    expect(where).toContain("`rmm filters run --help`");
    expect(where).not.toContain("saved-filters");
    expect(await refused("groups", "frob")).toContain("There is no command rmm groups frob");
    expect(await refused("filters", "run", "x", "--all")).toContain("`rmm filters run` does not take --all");
    expect(await refused("saved-filters", "preview-saved", "x", "--frob")).toContain(
      "`rmm saved-filters preview-saved`",
    );
  });

  it("so is a credential that does not do", async () => {
    const env = { RMM_SERVER: "http://127.0.0.1:1", RMM_API_KEY: `svc_${"a".repeat(40)}` };
    const ran = await command.run(["filters", "run", "x"], { env });
    expect([ran.code, ran.stderr]).toEqual([4, expect.stringContaining("`filters run` needs a signed-in user")]);
  });

  it("is told with the help of the command for a flag that has no effect on it", async () => {
    expect(await refused("config", "explain", "--limit", "3")).toContain(
      "`rmm config explain --help` explains its flags and arguments",
    );
  });
});
