import { execFileSync, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { globalFlagNames } from "#cli/globals";
import { spellingOf } from "#cli/noun-aliases";
import { specs } from "#cli/test-commands";
import { helpTexts } from "./help-texts.ts";
import { manPage, markdownPages } from "./pages.ts";

it("man page and Markdown pages have every endpoint's command with its flags, every global flag and exit code", async () => {
  const groups = await helpTexts();
  const pages = new Map(markdownPages(groups));
  const man = manPage(groups);
  const index = pages.get("reference/README.md")!;
  for (const { noun, name, body } of await specs()) {
    const page = pages.get(`reference/${noun}.md`)!;
    const [, section = ""] = page.split(`## rmm ${spellingOf(noun)} ${name}\n`);
    expect(section.split("\n## ")[0], `${noun} ${name}`).toMatch(/^\n```text\nExamples:/);
    expect(man).toContain(`.SS rmm ${`${spellingOf(noun)} ${name}`.replaceAll("-", "\\-")}\n`);
    for (const { flag, secret, ref } of body)
      if (!secret && ref === undefined) expect(section, `${noun} ${name}`).toContain(flag);
    expect(index).toContain(`(${noun}.md)`);
  }
  for (const name of globalFlagNames) {
    expect(index).toMatch(new RegExp(`--(no-)?${name}\\b`));
    const lines = [`--${name}`, `--no-${name}`].map((flag) => `\n.B ${flag.replaceAll("-", "\\-")}`);
    expect(
      lines.some((line) => man.includes(line)),
      name,
    ).toBe(true);
  }
  for (const { commands } of groups)
    for (const { path } of commands) expect(man).toContain(`.SS ${path.replaceAll("-", "\\-")}\n`);
  expect(man).not.toMatch(/^[.'](?!TH|SH|SS|TP|B |nf|fi|in 0)/m);
});

const hasGroff = spawnSync("groff", ["--version"]).status === 0;

it.skipIf(!hasGroff)("groff sets the man page", async () => {
  const input = manPage(await helpTexts());
  expect(execFileSync("groff", ["-man", "-Tutf8", "-ww"], { input, encoding: "utf8" })).toContain("rmm");
});
