import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { prompterOf } from "./prompt.ts";
import type { Shell } from "./shell.ts";

it("breaks a long question between words", async () => {
  const [stdin, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { columns: 60 })];
  let shown = "";
  stderr.on("data", (chunk: Buffer) => {
    if (shown === "") setImmediate(() => stdin.write("y\r"));
    shown += chunk.toString("utf8");
  });
  const shell = { stdin, stderr, columns: 60, signal: new AbortController().signal } as unknown as Shell;
  const question = "Delete a site: Headquarters of Summit Ridge Law LLP at http://127.0.0.1:3000 (profile default)?";
  expect(await prompterOf(shell).confirm(question)).toBe(true);
  const words = new Set(stripVTControlCharacters(shown).split(/\s+/));
  for (const word of question.split(" ")) expect(words).toContain(word);
});
