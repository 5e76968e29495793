import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import { nouns } from "./generated/nouns.ts";
import { nounOfWords, nounsWithin, spellingOf } from "./noun-aliases.ts";
import { testCommand } from "./test-shell.ts";

const command = testCommand();
let stub: Stub;
beforeAll(async () => {
  stub = await stubServer(() => ({ body: { rules: [], signerGroups: [] } }));
});
afterAll(async () => {
  await stub.close();
  command.close();
});
const run = (...argv: string[]) => command.run(argv, { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });

const twoWords = nouns.map(({ noun }) => noun).filter((noun) => spellingOf(noun).includes(" "));

describe("a noun of two words", () => {
  it("is pam rules, pam signer-groups, pam config", () => {
    expect(twoWords.map(spellingOf).toSorted()).toEqual(["pam config", "pam rules", "pam signer-groups"]);
    expect(nounsWithin("elevation-requests").map(([word]) => word)).toEqual(["rules", "signer-groups", "config"]);
    expect([nounOfWords("pam", "list"), nounOfWords("devices", "rules"), nounOfWords("pam", undefined)]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
  });

  it("is called by its words, behind either name of the group, by its own name, and with flags between the words", async () => {
    for (const line of [
      "pam rules list",
      "elevation-requests rules list",
      "pam-rules list",
      "--quiet pam --json rules list",
      "pam --server http://127.0.0.1:1 rules list",
    ]) {
      stub.seen.length = 0;
      const argv = line.replace("http://127.0.0.1:1", stub.url).split(" ");
      const ran = await run(...argv);
      expect([ran.code, stub.seen.map(({ path }) => path)], `${line}: ${ran.stderr}`).toEqual([
        0,
        ["/api/v1/pam/rules"],
      ]);
    }
  });

  it("is written by its words in help, of whichever words were typed, and in errors", async () => {
    for (const noun of twoWords) {
      const words = spellingOf(noun);
      for (const typed of [words.split(" "), [noun]]) {
        const { stdout, code } = await run(...typed, "--help");
        expect([code, stdout.includes(`Usage: rmm ${words} <command>`)], typed.join(" ")).toEqual([0, true]);
        expect(stdout).toContain(`Also: rmm ${noun} is the same as rmm ${words}.`);
        expect((await run(...typed, "frob")).stderr).toContain(`There is no command rmm ${words} frob`);
      }
    }
    expect((await run("pam-rules", "list", "--help")).stdout).toMatch(/^ {2}rmm pam rules list\n/m);
    expect((await run("help", "pam", "rules", "list")).stdout).toContain("Usage: rmm pam rules list [flags]");
    expect((await run("pam", "rules", "remove")).stderr).toContain("<id>");
    expect((await run("--help")).stdout).toMatch(/^ {2}pam rules +Rules that decide/m);
  });

  it("is listed in the help of its group, proposed and completed", async () => {
    const { stdout } = await run("pam", "--help");
    for (const [word, noun] of nounsWithin("elevation-requests"))
      expect(stdout).toMatch(new RegExp(`^ {2}${word} +${nouns.find((one) => one.noun === noun)!.summary}$`, "m"));
    expect((await run("pam", "rulse")).stderr).toContain("(did you mean rules?)");
    const completed = async (...words: string[]) =>
      (await run("__complete", "--", ...words)).stdout.split("\n").map((line) => line.split("\t")[0]);
    expect(await completed("pam", "ru")).toEqual(["rules", ""]);
    expect(await completed("pam", "rules", "li")).toEqual(["list", ""]);
    expect(await completed("pam", "rules", "create", "--verdict", "auto_d")).toEqual(["auto_deny", ""]);
  });

  it("is asked for by its words", async () => {
    const ran = await run("auth", "can-i", "pam", "rules", "frob");
    expect([ran.code, ran.stderr.includes("There is no command pam-rules frob")]).toEqual([2, true]);
  });
});

describe("a word that is no command", () => {
  it("is refused beside --help too, with what was meant", async () => {
    for (const [line, text] of [
      ["frob --help", "There is no command rmm frob"],
      ["devcies --help", "did you mean devices"],
      ["devices lst --help", "did you mean list"],
      ["help devices lst", "did you mean list"],
      ["pam rules lst --help", "There is no command rmm pam rules lst (did you mean list"],
    ] as const) {
      const ran = await run(...line.split(" "));
      expect([ran.code, ran.stdout], line).toEqual([2, ""]);
      expect(ran.stderr, line).toContain(text);
    }
    expect((await run("devices", "get", "till-1", "--help")).code).toBe(0);
    expect((await run("--org", "contoso", "devices", "--help")).code).toBe(0);
  });
});
