import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyTree } from "../../../scripts/bench/synthetic-nouns.ts";

interface Report {
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "rmm-scaffold-"));
  copyTree(".", copy);
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const run = (command: string, args: readonly string[], env: Record<string, string> = {}) =>
  execa(command, args, { cwd: copy, env, all: true });
const script = (name: string, ...args: string[]) =>
  run("npx", ["tsx", "--conditions=source", `scripts/${name}.ts`, ...args]);

/** What `npm run gen` and `npm run format` leave compiles, passes lint and keeps the rules of the tree. */
async function expectWhole(): Promise<void> {
  await run("git", ["init", "-q"]);
  await script("gen");
  await run("npx", ["biome", "check", "--write", "."]);
  await script("gen");
  await run("npx", ["tsc", "-b"]);
  await run("npx", ["biome", "ci", "."]);
  await script("check");
}

async function redTests(...files: string[]): Promise<string[]> {
  const env = { NOUNS: "device-labels" };
  const args = ["vitest", "run", "--reporter=json", "--passWithNoTests", ...files];
  const { stdout } = await execa("npx", args, { cwd: copy, env, reject: false });
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  expect(tests.length).toBeGreaterThan(0);
  return tests.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
}

const room = "server/features/fleet/device-labels";
const sweeps = ["server/test/conformance/sqlite", "server/test/conformance/postgres", "sdk/contract"];

it("a new noun is whole, is swept, and is red only where it must be thought about", async () => {
  await script("new-noun", "fleet", "device-labels", "Labels of devices", "devices");
  await expectWhole();
  expect(await redTests(...sweeps)).toEqual([]);
  const red = await redTests(room);
  expect(red.map((name) => name.replace(/^.* on \w+ /, ""))).toEqual([
    "does what the product has device labels for",
    "does what the product has device labels for",
  ]);
}, 600_000);

it("a new endpoint takes four edits and a handler that does its work", async () => {
  await script(
    "new-endpoint",
    "POST",
    "/device-labels/:id/archive",
    "device-labels",
    "archive",
    "Archive a device label",
  );
  await expectWhole();
  const red = await redTests(`${room}/archive.test.ts`, ...sweeps);
  expect(red.length).toBeGreaterThan(0);
  expect(red.filter((name) => !/archive/.test(name))).toEqual([]);
  const text = (path: string) => readFileSync(join(copy, path), "utf8");
  expect(text("sdk/contract/resources/fleet/device-labels.ts")).toContain('audit: "device_label.archive"');
  expect(text("sdk/contract/core/audit-actions.ts")).toContain('"device_label.archive"');
  expect(text("fixtures/nouns/fleet/device-labels.ts")).toContain("archive: (t) =>");
  expect(text(`${room}/routes.ts`)).toContain("archive: archiveDeviceLabel");
}, 600_000);
