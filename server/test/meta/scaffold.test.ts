import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyTree } from "../../../scripts/copy-tree.ts";
import { runTests } from "./run-tests.ts";

const room = "server/features/fleet/device-labels";
const endpoint = ["POST", "/device-labels/:id/archive", "device-labels", "archive", "Archive a device label"];
let copy: string;

const run = (command: string, args: readonly string[]) =>
  execa(command, args, { cwd: copy, all: true, preferLocal: true });
const script = (name: string, ...args: string[]) => run("tsx", ["--conditions=source", `scripts/${name}.ts`, ...args]);

/** What the scripts wrote; the rest is linted where it stands. */
async function written(): Promise<string[]> {
  const { stdout } = await execa("git", ["ls-files", "--modified", "--others", "--exclude-standard"], { cwd: copy });
  return stdout.split("\n");
}

beforeAll(async () => {
  copy = copyTree("scaffold");
  await run("git", ["add", "--all"]);
  // What `npm run build` has compiled of the files that stay as they are.
  cpSync("dist", join(copy, "dist"), { recursive: true, preserveTimestamps: true });
  await script("new-noun", "fleet", "device-labels", "Labels of devices", "devices");
  await script("gen");
  await script("new-endpoint", ...endpoint);
  await script("gen");
  await run("biome", ["check", "--write", ...(await written())]);
}, 120_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

it("a new noun with a new endpoint compiles, passes lint and keeps the rules of the tree", async () => {
  await run("tsc", ["-b"]);
  await run("biome", ["ci", ...(await written())]);
  await script("check");
}, 300_000);

it("they pass every sweep; only the tests of what they are for fail, and those of the handler that does nothing yet", async () => {
  const sweeps = ["server/test/conformance/sqlite", "server/test/conformance/postgres", "sdk/contract"];
  const tests = await runTests(copy, [`${room}/`, ...sweeps], ["device-labels"]);
  const failed = tests.filter(({ state }) => state === "failed").map(({ name }) => name);
  const ofNoun = failed.filter((name) => !/archive/i.test(name));
  expect(ofNoun.map((name) => name.replace(/^.* on \w+ /, ""))).toEqual([
    "does what the product has device labels for",
    "does what the product has device labels for",
  ]);
  expect(failed.length).toBeGreaterThan(ofNoun.length);
  const swept = tests.filter(({ name }) => /deviceLabels\.(list|create|get|update|remove)\b/.test(name));
  expect(swept.length).toBeGreaterThan(50);
}, 300_000);

it("an endpoint takes four edits and a handler", () => {
  const text = (path: string) => readFileSync(join(copy, path), "utf8");
  expect(text("sdk/contract/resources/fleet/device-labels.ts")).toContain('audit: "device_label.archive"');
  expect(text("sdk/contract/core/audit-actions.ts")).toContain('"device_label.archive"');
  expect(text("fixtures/nouns/fleet/device-labels.ts")).toContain("archive: (t) =>");
  expect(text(`${room}/routes.ts`)).toContain("archive: archiveDeviceLabel");
});
