import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Command, CommanderError } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { linkPages, linkPageText } from "#server/http/link-pages";
import { resumeCommand } from "./commands/keys/rotate-view.ts";
import { applyCommand } from "./commands/provisioning/options.ts";
import type { Context } from "./context.ts";
import { completed, type Given, givenIn, withPlace } from "./errors/commands-to-type.ts";
import { withNounOfWords, wordsOf } from "./globals.ts";
import { programFor } from "./program.ts";
import { rotation } from "./provisioning/diff-keys.ts";
import { stubApi } from "./test-api.ts";
import { testCommand } from "./test-shell.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !/\.test\.ts$|^generated\/|^test-|quickstart\//.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8").replace(/^\s*(\/\/|\/?\*).*$/gm, "") }));

/** Every command that a text of the program tells a person to type, as it stands in the source. */
const hints = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/`(rmm [a-z][^`]*?)\\?`/g)]
    .map(([, command]) => ({ path, command: command!.replace(/\\$/, "") }))
    .filter(({ command }) => !/\$\{|<command>/.test(command) && !command.includes("\n")),
);

/** The words of a command as a shell reads them, with something in place of `<what>`. */
function pasted(command: string): string[] {
  const filled = command.replaceAll(/<[\w-]+>/g, "sample");
  return [...filled.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted?.replaceAll("'\\''", "'") ?? plain!)
    .slice(1);
}

/** Fails where the command or a flag does not exist; returns the values of its flags. */
async function parse(command: string): Promise<Record<string, unknown>> {
  const argv = withNounOfWords(pasted(command));
  const program = await programFor(wordsOf(argv)[0]);
  let ran: Record<string, unknown> | undefined;
  const walk = (at: Command) => {
    at.exitOverride().action((...all: unknown[]) => {
      ran = (all.at(-1) as Command).optsWithGlobals();
    });
    for (const child of at.commands) walk(child);
  };
  for (const one of program.commands) walk(one);
  await program.parseAsync(argv, { from: "user" }).catch((error: unknown) => {
    if (!(error instanceof CommanderError) || error.code !== "commander.helpDisplayed") throw error;
    ran = { help: true };
  });
  if (ran === undefined) throw new Error(`${command} names no command`);
  return ran;
}

const here: Given = { server: "https://rmm.example", "insecure-http": "", profile: "prod", "data-dir": "/srv/r m'm" };

describe("every command that the program tells a person to type", () => {
  it("is found in the source", () => {
    expect(hints.length).toBeGreaterThan(30);
  });

  it.each(hints)(
    "$command ($path) parses, and acts on the profile, server and folder that were given",
    async ({ command }) => {
      const whole = withPlace(command, here);
      const flags = await parse(whole);
      const [, group] = command.split(" ");
      if (command.endsWith("--help")) return expect([flags, whole]).toEqual([{ help: true }, command]);
      if (group === "server") expect(flags).toMatchObject({ dataDir: "/srv/r m'm" });
      else if (!["profile", "schema", "help"].includes(group!))
        expect(flags).toMatchObject({ server: "https://rmm.example", profile: "prod" });
      expect(flags["insecureHttp"] === true).toBe(!["server", "profile", "schema", "help", "config"].includes(group!));
    },
  );

  it.each(Object.entries(linkPages))("stands on the page at %s too", async (_path, page) => {
    const [, typed = ""] = /<code>(.*)<\/code>/.exec(linkPageText(page, "https://rmm.example")) ?? [];
    expect(await parse(typed)).toMatchObject({ server: "https://rmm.example" });
  });

  it("stands between backticks, where it is completed", async () => {
    const groups = (await programFor(undefined)).commands.map((one) => one.name()).join("|");
    const bare = new RegExp(
      `((hint|remedy): |(notice|usageError|missingInput|declined)\\().*[^\`]\\brmm (${groups})\\b`,
    );
    for (const { path, text } of sources)
      for (const line of text
        .replaceAll(/([:?+(])\n\s+/g, "$1 ")
        .replaceAll(/\n\s+(?=[?:])/g, " ")
        .split("\n"))
        expect(bare.test(line.replaceAll(/\$\{[^}]*\}/g, "")), `${path}: ${line.trim()}`).toBe(false);
  });
});

describe("a command that goes on", () => {
  const argv = [
    "apply",
    "my file.yaml",
    "--profile=prod",
    "--server",
    "https://rmm.example",
    "--token-file",
    "k's.txt",
  ];
  const given = givenIn(argv, wordsOf(argv));
  const place = { profile: "prod", server: "https://rmm.example", tokenFile: "k's.txt" };

  it("of apply has every flag that was given", async () => {
    const options = {
      partner: "summit",
      pace: true,
      allowDelete: true,
      redeliver: true,
      sinkCheck: false,
      sinkDir: "a b",
    };
    const command = applyCommand("my file.yaml", { ...options, rate: "60" }, { org: "harbor", given });
    expect(pasted(command)).toContain("my file.yaml");
    expect(await parse(command)).toMatchObject({ ...options, ...place, rate: "60", org: "harbor", yes: true });
  });

  it("of keys rotate has every flag that was given", async () => {
    const options = { secretDir: "a b", journal: "j's", partner: "summit" };
    const context = { globals: { org: "harbor", given } } as unknown as Context;
    expect(await parse(resumeCommand(context, options))).toMatchObject({
      ...options,
      ...place,
      org: "harbor",
      resume: true,
    });
  });

  it("of a lost key rotates it into its file", async () => {
    const key = { sink: { kind: "file", path: "/srv/a b" } } as Parameters<typeof rotation>[0];
    const command = withPlace(rotation(key, { id: "11111111-1111-4111-8111-111111111111" }, []), given);
    expect(await parse(command)).toMatchObject({ ...place, secretFile: "/srv/a b", yes: true });
  });

  it("of a sign-in goes the way that was begun, and no flag of another command is taken for its own", () => {
    const login = ["auth", "login", "--sso", "--email", "a@b.example", "--store=file", "--no-browser"];
    expect(completed("start again with `rmm auth login --sso`", givenIn(login, wordsOf(login)))).toBe(
      "start again with `rmm auth login --sso --email a@b.example --no-browser --store file`",
    );
    const other = ["users", "invite", "--email", "x@y.example", "--", "--profile", "z"];
    expect(givenIn(other, wordsOf(other))).toEqual({});
    expect(completed("`rmm auth login`, `rmm help exit-codes`", { profile: "p", "token-file": "t" })).toBe(
      "`rmm auth login --profile p`, `rmm help exit-codes`",
    );
  });
});

const MEMBERSHIP = "77777777-7777-4777-8777-777777777777";

describe("at a terminal", () => {
  const command = testCommand();
  let stub: Stub;
  let answered: unknown[];
  beforeAll(async () => {
    const user = { id: "u", email: "ana@contoso.example", scope: "partner" };
    stub = await stubApi({
      "POST /auth/login": ({ body }) => {
        answered.push(body);
        const pair = { accessToken: "access-token", refreshToken: "refresh-token", expiresIn: 900 };
        return { body: { ...pair, mfaRequired: false, mfaEnrollmentRequired: false, user } };
      },
      "GET /orgs/sites": () => refusal(403, "MFA_REQUIRED"),
      "GET /users/me/memberships": () => ({
        body: { data: [{ id: MEMBERSHIP, tenantId: "t", tenantName: "Harbor", kind: "organization" }] },
      }),
      [`POST /users/me/memberships/${MEMBERSHIP}/select`]: () => ({
        body: { accessToken: "access-token", refreshToken: "refresh-token", expiresIn: 900 },
      }),
    });
    answered = [];
  });
  afterAll(async () => {
    await stub.close();
    command.close();
  });

  it("errors name the profile and the server, in JSON too", async () => {
    await command.run(["profile", "add", "prod", "--server", stub.url]);
    const flags = ["--profile", "prod", "--server", stub.url];
    const env = { RMM_TOKEN: "token-of-ana" };
    const ran = await command.run(["sites", "list", ...flags], { env });
    expect(ran.stderr).toContain(`\`rmm auth mfa step-up --server ${stub.url} --profile prod\``);
    const json = await command.run(["sites", "list", "--json", ...flags], { env });
    expect(JSON.parse(json.stderr).error.hint).toContain("--profile prod`");
    const out = await command.run(["sites", "list", "--profile", "prod"]);
    expect(out.stderr).toContain("`rmm auth login --profile prod`");
  });

  it("a switch to another tenant is one of the stored sign-in, and RMM_TOKEN is named as what goes before it", async () => {
    const login = ["auth", "login", "--email", "ana@contoso.example", "--password-stdin", "--store=file"];
    const place = ["--profile", "switcher", "--server", stub.url];
    await command.run([...login, ...place], { stdin: "Password-1" });
    stub.seen.length = 0;
    const ran = await command.run(["auth", "switch", "Harbor", ...place], { env: { RMM_TOKEN: "token-of-bo" } });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr).toContain("RMM_TOKEN is set and goes before this sign-in");
    const callers = stub.seen
      .filter(({ path }) => path.includes("/memberships"))
      .map(({ headers }) => headers.authorization);
    expect(callers).toEqual(["Bearer access-token", "Bearer access-token"]);
    expect((await command.run(["auth", "switch", "Harbor", ...place])).stderr).not.toContain("RMM_TOKEN");
  });

  it("a sign-in goes where the last one of the profile went, without --store", async () => {
    const login = ["auth", "login", "--email", "ana@contoso.example", "--password-stdin", "--profile", "prod"];
    answered.length = 0;
    const refused = await command.run([...login, "--store", "keychain"], { stdin: "Password-1" });
    expect(refused.stderr).toContain("keychain of this machine cannot");
    const [, typed = ""] = /`(rmm [^`]+)`, with the same input/.exec(refused.stderr) ?? [];
    expect(pasted(typed)).toEqual([...login, "--store=file"]);
    const accept = ["users", "accept-invite", "--server", stub.url, "--password-file", "it's mine", "-f", "a.json"];
    expect((await command.run(accept)).stderr).toContain(
      `\`rmm users accept-invite --server ${stub.url} --password-file`,
    );
    expect(await command.run([...login, "--store=file"], { stdin: "Password-1" })).toMatchObject({ code: 0 });
    const explained = await command.run(["config", "explain", "--profile", "prod", "--json"]);
    expect(JSON.parse(explained.stdout)).toContainEqual({ name: "store", value: "file", source: "profile prod" });
    expect(await command.run(["auth", "logout", "--profile", "prod"])).toMatchObject({ code: 0 });
    expect(await command.run(login, { stdin: "Password-1" })).toMatchObject({ code: 0 });
    expect(answered).toHaveLength(2);
  });
});
