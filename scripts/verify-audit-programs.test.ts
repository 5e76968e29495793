import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { testCommand } from "#cli/test-shell";
// @ts-expect-error: plain JavaScript without types, to be run as it is
import { verifyBundle as second } from "./verify-audit-bundle.mjs";

interface Case {
  name: string;
  publicKeys: string[];
  outside: object[] | null;
  lines: object[];
}
const { bundles }: { bundles: Case[] } = JSON.parse(
  readFileSync(new URL("../fixtures/golden/audit-bundles.json", import.meta.url), "utf8"),
);
const stranger = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64");
const folder = mkdtempSync(join(tmpdir(), "rmm-verifiers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const ndjson = (list: readonly object[]) => list.map((line) => `${JSON.stringify(line)}\n`).join("");
const exits: Record<string, number> = { ok: 0, broken: 11, not_provable: 12 };

describe.each(bundles)("both programs, given keys, end alike with the bundle of $name", (one) => {
  it.each([
    ["its own", one.publicKeys],
    ["a key that signed nothing", [stranger]],
  ])("and %s", async (_whose, keys) => {
    if (keys.length === 0) return;
    const outside = one.outside ? ["--anchor-file", write("anchors.ndjson", ndjson(one.outside))] : [];
    const flags = [...outside, ...keys.flatMap((key) => ["--public-key", key])];
    const ran = await testCommand().run(["audit", "verify", write("bundle.ndjson", ndjson(one.lines)), ...flags]);
    expect(exits[(await second(one.lines, one.outside ?? [], keys)).verdict]).toBe(ran.code);
  });
});

const run = (script: string, ...args: string[]) => {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
};

describe.each(["./verify-audit-bundle.mjs", "./verify-audit-proof.mjs"])("%s", (script) => {
  it("refuses arguments that it does not know, and files without a key, with 2 and its usage", () => {
    const { lines, publicKeys } = bundles[0] as Case;
    const file = write("whole.ndjson", ndjson(lines));
    const none = write("none.pub", "# nothing\n");
    const key = publicKeys[0] as string;
    for (const args of [
      [],
      [file, none],
      [file, "--trusted", none],
      [file, "--trust"],
      [file, "--trust", none],
      [file, "--public-key", `${key}x`],
    ]) {
      const ran = run(script, ...args);
      expect([ran.status, ran.stdout], args.join(" ")).toEqual([2, ""]);
      expect(ran.stderr, args.join(" ")).toMatch(/^.+\nUsage: node verify-audit-(bundle|proof)\.mjs .+\n$/);
    }
  });

  it.each(["--help", "-h"])("prints its usage with %s", (flag) => {
    const ran = run(script, flag);
    expect([ran.status, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout).toMatch(/^Usage: node verify-audit-(bundle|proof)\.mjs .+\n$/);
  });

  it("says in one line that a file is not there", () => {
    const gone = run(script, join(folder, "gone"));
    expect([gone.status, gone.stdout, gone.stderr.trim().split("\n").length]).toEqual([2, "", 1]);
    expect(gone.stderr).toContain("no such file");
  });
});

it("the verifier of bundles takes a file of keys, and says of no key that no signature was judged", () => {
  const { lines, publicKeys } = bundles[0] as Case;
  const file = write("whole.ndjson", ndjson(lines));
  const said = (...args: string[]) => {
    const { status, stdout } = run("./verify-audit-bundle.mjs", file, ...args);
    const { verdict, signatures } = JSON.parse(stdout);
    return [status, verdict, signatures];
  };
  const trusted = write("anchors.pub", `# the server's\n${publicKeys.join("\n")}\n`);
  expect(said()).toEqual([0, "ok", "not judged: no key was given"]);
  expect(said("--trust", trusted)).toEqual([0, "ok", "2 of 2 verified"]);
  expect(said("--trust", write("wrong.pub", stranger))).toEqual([12, "not_provable", "0 of 2 verified"]);
});

it("the verifier of bundles says plainly what is no bundle, or a damaged one", () => {
  const { lines } = bundles[0] as Case;
  const damaged = `${ndjson(lines.slice(0, 2))}{"type":\n${ndjson(lines.slice(3))}`;
  const texts = { text: "hello\n", list: "[]\n", nothing: "null\n", empty: "", damaged, "packed.gz": "hello\n" };
  for (const [name, text] of Object.entries(texts)) {
    const ran = run("./verify-audit-bundle.mjs", write(name, text));
    expect([ran.status, ran.stdout], name).toEqual([12, ""]);
    expect(ran.stderr, name).toMatch(/^no (audit )?bundle.*\n$/);
  }
});

it("the verifier of proofs says that it was given no key", () => {
  const anchor = {
    chainKind: "system",
    chainId: "00000000-0000-0000-0000-000000000000",
    headChainSeq: 1,
    signature: "",
  };
  const proof = { format: "ap1", chainSeq: 1, size: 1, path: "", anchor };
  const file = write("signed.proof", JSON.stringify({ entry: { id: "x" }, proof }));
  const ran = run("./verify-audit-proof.mjs", file);
  expect([ran.status, ran.stdout]).toEqual([12, "unknown key\n"]);
  expect(ran.stderr).toMatch(/^No key was given, .+\nUsage: .+ \[--trust FILE\]…\n$/);
  const stranger = write("stranger.pub", (bundles[0] as Case).publicKeys.join("\n"));
  expect(run("./verify-audit-proof.mjs", file, "--trust", stranger).stderr).toBe("");
});

it("the verifier of proofs says what is no proof, and takes a file of keys", () => {
  for (const [name, text] of Object.entries({ empty: "", list: "[]", other: '{"entry":{}}' })) {
    const ran = run("./verify-audit-proof.mjs", write(name, text));
    expect([ran.status, ran.stdout, ran.stderr.trim().split("\n").length], name).toEqual([2, "", 1]);
    expect(ran.stderr).toContain("is no proof");
  }
});
