import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyTree } from "../../../scripts/copy-tree.ts";
import { proving } from "../proving.ts";
import { runTests } from "./run-tests.ts";

const room = "server/features/fleet/device-labels";
const endpoint = ["POST", "/device-labels/:id/archive", "device-labels", "archive", "Archive a device label"];
let copy: string;
/** What the scripts write before anything is generated: what a person would edit by hand. */
let nounEdits: string[];
let endpointEdits: string[];

const run = (command: string, args: readonly string[]) =>
  execa(command, args, { cwd: copy, all: true, preferLocal: true });
const script = (name: string, ...args: string[]) => run("tsx", ["--conditions=source", `scripts/${name}.ts`, ...args]);

/** What the scripts wrote; the rest is linted where it stands. */
async function written(): Promise<string[]> {
  const { stdout } = await execa("git", ["ls-files", "--modified", "--others", "--exclude-standard"], { cwd: copy });
  return stdout.split("\n").filter((path) => path !== "");
}

// Minutes of compiling and of other tests.
describe.runIf(proving)("what the scripts of a new noun and a new endpoint write", () => {
  beforeAll(async () => {
    copy = copyTree("scaffold");
    await run("git", ["add", "--all"]);
    // What `npm run build` has compiled of the files that stay as they are.
    cpSync("dist", join(copy, "dist"), { recursive: true, preserveTimestamps: true });
    await script("new-noun", "fleet", "device-labels", "Labels of devices", "devices");
    nounEdits = await written();
    await script("gen");
    await run("git", ["add", "--all"]);
    await script("new-endpoint", ...endpoint);
    endpointEdits = await written();
    await script("gen");
    await run("biome", ["check", "--write", ...(await written())]);
  }, 120_000);
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it("a new noun with a new endpoint compiles, passes lint and keeps the rules of the tree", async () => {
    await run("tsc", ["-b"]);
    await run("biome", ["ci", ...(await written())]);
    await script("check");
  }, 300_000);

  it.runIf(proving)(
    "they pass every sweep; only the tests of what they are for fail, and those of the handler that does nothing yet",
    async () => {
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
    },
    300_000,
  );

  const text = (path: string) => readFileSync(join(copy, path), "utf8");

  it("an endpoint takes four edits: contract entry, audit action, handler with its line in the routes, example", () => {
    const entries = "sdk/contract/resources/fleet/device-labels.ts";
    const [routes, fixtures] = [`${room}/routes.ts`, "fixtures/nouns/fleet/device-labels.ts"];
    expect(endpointEdits.toSorted()).toEqual(
      [entries, routes, `${room}/archive.ts`, `${room}/archive.test.ts`, fixtures].toSorted(),
    );
    expect(text(entries)).toContain('audit: "device_label.archive"');
    expect(text(entries)).toMatch(/audits: \[[^\]]*"device_label\.archive"/);
    expect(text(routes)).toContain("archive: archiveDeviceLabel");
    expect(text(fixtures)).toContain("archive: (t) =>");
  });

  it("a noun touches its own files and its area's tables, and no file that another noun touches", () => {
    const own = nounEdits.filter((path) => path.includes("device-labels"));
    expect(nounEdits.filter((path) => !own.includes(path))).toEqual(["server/db/tables/fleet.ts"]);
    expect(own.length).toBeGreaterThan(8);
  });
});
