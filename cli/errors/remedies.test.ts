import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { errorTable, genericErrors, messageOf, statusOf } from "#contract/core/errors";
import { RmmError } from "#sdk/errors";
import { refusal, type Stub, stubServer } from "#sdk/stub-server";
import { commandLine, ANY_ID as ID, specs } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";
import { describeError } from "./describe-error.ts";

const command = testCommand();
let stub: Stub;
let answer: ReturnType<typeof refusal>;
beforeEach(async () => {
  stub = await stubServer(() => answer);
});
afterEach(() => stub.close());
afterAll(() => command.close());

describe("a refusal of the server", () => {
  it("has a remedy, whatever its code, where people or their keys can meet it", async () => {
    const forDevices = new Set<string>(["INVALID_AGENT_CREDENTIALS"]);
    const met = new Set<string>(Object.values(genericErrors).flat());
    for (const { access, errors } of await specs())
      if (access.kinds.some((kind) => kind !== "agent")) for (const code of errors) met.add(code);
    const bare = Object.keys(errorTable).filter((code) => {
      const known = code as keyof typeof errorTable;
      const error = new RmmError(messageOf(known), { status: statusOf(known), code, outcome: "rejected" });
      return !forDevices.has(code) && describeError(error).error.hint === undefined;
    });
    expect(met.size).toBeGreaterThan(100);
    expect(bare).toEqual([]);
  });

  it("of a value names the help of the very command", async () => {
    const known = new Set((await specs()).map(({ noun, name }) => `rmm ${noun} ${name} --help`));
    for (const { noun, sdkVerb } of await specs()) {
      const facts = {
        status: 400,
        code: "VALIDATION_ERROR",
        outcome: "rejected",
        operation: `${noun}.${sdkVerb}`,
      } as const;
      const [, line = ""] = /`([^`]*)`/.exec(describeError(new RmmError("no", facts)).error.hint ?? "") ?? [];
      expect(known.has(line), `${noun} ${sdkVerb}: ${line}`).toBe(true);
    }
  });

  it("names by its kind what was not found, as it was given, and the list that shows what there is", async () => {
    answer = refusal(404, "NOT_FOUND", { error: "Not found" });
    let tried = 0;
    for (const spec of await specs()) {
      const { kinds, permissions: _ } = spec.access;
      if (spec.params.length === 0 || !kinds.includes("user") || kinds.includes("public")) continue;
      const where = `${spec.noun} ${spec.name}`;
      const { argv, stdin } = commandLine(spec);
      const ran = await command.run([...argv, "--yes"], {
        env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
        ...(stdin === undefined ? {} : { stdin }),
      });
      expect(ran.code, `${where}: ${ran.stderr}`).toBe(3);
      expect(ran.stderr, where).toMatch(new RegExp(`^(→.*\n)?rmm: There is no [a-z][a-z ]+ ${ID}`));
      expect(ran.stderr, where).not.toContain("rmm: Not found");
      tried += 1;
    }
    expect(tried).toBeGreaterThan(50);
  });

  it("says where the part of a device would be listed, and what of the path else may be wrong", async () => {
    answer = refusal(404, "NOT_FOUND", { error: "Not found" });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const ran = await command.run(["processes", "get", ID, "4711"], { env });
    expect(ran.stderr).toContain(`There is no process 4711, or no device ${ID}`);
    expect(ran.stderr).toContain(`\`rmm processes list ${ID}\` shows those that there are`);
    expect((await command.run(["api", "GET", `/orgs/sites/${ID}`], { env })).stderr).toContain(
      `There is no site ${ID}`,
    );
    expect((await command.run(["api", "GET", "/things/7"], { env })).stderr).toContain("Not found: /things/7");
  });

  it("about an organization names the one that was given", async () => {
    answer = refusal(403, "ORG_ACCESS_DENIED", { error: "Access to this organization denied" });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const { code, stderr } = await command.run(["sites", "list", "--org", ID], { env });
    expect([code, stderr]).toEqual([5, expect.stringContaining(`There is no organization ${ID}, or it is closed`)]);
    expect(stderr).toContain("`rmm organizations list-accessible`");
  });

  it.each([
    [true, "Prove your second factor with `rmm auth mfa step-up`"],
    [false, "Set up a second factor first with `rmm auth mfa setup`"],
  ])("for want of a second factor, which there is: %s", async (mfaEnabled, hint) => {
    answer = refusal(403, "MFA_REQUIRED", { error: "MFA required", details: { mfaEnabled } });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const { stderr } = await command.run(["sites", "create", "--org", ID, "--name", "HQ", "--json"], { env });
    expect(JSON.parse(stderr.slice(stderr.indexOf("{"))).error.hint).toBe(hint);
  });

  it("for a request of rights that waits already names the requests, not the commands of the device", async () => {
    answer = refusal(409, "ALREADY_PENDING", { error: "Already pending", details: { elevationRequestId: ID } });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const asked = ["--device-id", ID, "--flow-type", "tech_jit_admin", "--reason", "printer"];
    const { code, stderr } = await command.run(["pam", "create", ...asked], { env });
    expect([code, stderr]).toEqual([6, expect.stringContaining("`rmm pam list --status pending`")]);
  });
});

describe("a file that cannot be used", () => {
  const absent = "no-such-folder/file";
  it.each([
    ["plan", [absent], "Cannot read"],
    ["import", [absent], "Cannot read"],
    ["devices import", [absent], "Cannot read"],
    ["sites create", ["--file", absent], "--file: cannot read"],
    ["api POST", ["/orgs/sites", "--input", absent], "--input: cannot read"],
    ["auth login", ["--email", "a@b.example", "--password-file", absent], "--password-file: cannot read"],
    ["organizations list", ["--token-file", absent], "--token-file: cannot read"],
    ["audit verify", ["--bundle", absent, "--public-key", "x"], "--bundle: cannot read|no file x"],
    ["agent simulate", ["--count", "1", "--key-file", absent], "--key-file: cannot read"],
    ["devices set", ["pc", "--field", `rack=@${absent}`], "--field: cannot read"],
    ["devices run", ["lock", "pc", "--payload", `@${absent}`], "--payload: cannot read"],
    ["schema provisioning", ["-o", absent], "--output: cannot write"],
    ["server start", ["--data-dir", "package.json/x"], "--data-dir: cannot use .*a part of its path is no folder"],
    ["server migrate", ["--data-dir", "package.json"], "--data-dir: cannot use .*it exists already"],
    ["enrollment-keys create", ["--org", ID, "--name", "x", "--secret-file", absent], "--secret-file: cannot write"],
  ])("%s %j: is named with its flag and the reason in words", async (words, flags, said) => {
    answer = { body: { id: ID, data: [] } };
    const env = words.startsWith("auth login") ? {} : { RMM_TOKEN: "token-of-ana" };
    const ran = await command.run([...words.split(" "), ...flags], { env: { RMM_SERVER: stub.url, ...env } });
    expect(ran.code, ran.stderr).not.toBe(0);
    expect(ran.stderr).toMatch(new RegExp(said));
    if (flags.some((flag) => flag.includes(absent)) && !ran.stderr.includes("no file x"))
      expect(ran.stderr).toContain(`${absent}: there is no such file or folder`);
    expect(ran.stderr).not.toMatch(/ENO|EEXIST/);
  });
});
