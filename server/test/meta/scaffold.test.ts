import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyTree } from "../../../scripts/copy-tree.ts";
import { failed, runTests } from "./run-tests.ts";

let copy: string;
beforeAll(() => {
  copy = copyTree("scaffold");
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const run = (command: string, args: readonly string[]) => execa(command, args, { cwd: copy, all: true });
const script = (name: string, ...args: string[]) =>
  run("npx", ["tsx", "--conditions=source", `scripts/${name}.ts`, ...args]);

/** After `npm run gen` and `npm run format` the copy compiles, passes lint and keeps the rules of the tree. */
async function expectValidTree(): Promise<void> {
  await script("gen");
  await run("npx", ["biome", "check", "--write", "."]);
  await script("gen");
  await run("npx", ["tsc", "-b"]);
  await run("npx", ["biome", "ci", "."]);
  await script("check");
}

async function failedTests(...files: string[]): Promise<string[]> {
  const tests = await runTests(copy, files, "device-labels");
  expect(tests.length).toBeGreaterThan(0);
  return failed(tests);
}

const room = "server/features/fleet/device-labels";
const sweeps = ["server/test/conformance/sqlite", "server/test/conformance/postgres", "sdk/contract"];

it("a new noun compiles and passes every sweep; only the test of what it is for fails", async () => {
  await script("new-noun", "fleet", "device-labels", "Labels of devices", "devices");
  await expectValidTree();
  expect(await failedTests(...sweeps)).toEqual([]);
  const failures = await failedTests(room);
  expect(failures.map((name) => name.replace(/^.* on \w+ /, ""))).toEqual([
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
  await expectValidTree();
  const failures = await failedTests(`${room}/archive.test.ts`, ...sweeps);
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.filter((name) => !/archive/.test(name))).toEqual([]);
  const text = (path: string) => readFileSync(join(copy, path), "utf8");
  expect(text("sdk/contract/resources/fleet/device-labels.ts")).toContain('audit: "device_label.archive"');
  expect(text("sdk/contract/core/audit-actions.ts")).toContain('"device_label.archive"');
  expect(text("fixtures/nouns/fleet/device-labels.ts")).toContain("archive: (t) =>");
  expect(text(`${room}/routes.ts`)).toContain("archive: archiveDeviceLabel");
}, 600_000);
