import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ChainStatement } from "#server/audit/anchor-format";
import { verifyBundle as ours } from "#server/audit/bundle";
// @ts-expect-error: plain JavaScript without types, to be run as it is
import { verifyBundle as second } from "./verify-audit-bundle.mjs";

interface Case {
  name: string;
  publicKeys: string[];
  outside: ChainStatement[] | null;
  verdict: { ok: boolean; breaks: { kind: string; chainSeq: number | null; actual?: string }[]; problems: Problem[] };
  lines: object[];
}
interface Problem {
  anchorSeq: number;
  reason: string;
}

const { bundles }: { bundles: Case[] } = JSON.parse(
  readFileSync(new URL("../fixtures/golden/audit-bundles.json", import.meta.url), "utf8"),
);

async function* text(lines: readonly object[]) {
  for (const line of lines) yield JSON.stringify(line);
}

/** Sorted, because two verifiers may find the same faults in different order. */
const sorted = (found: object[]) => found.map((one) => JSON.stringify(one)).toSorted();
interface Break {
  kind: string;
  chainSeq: number | null;
  actual?: string | null;
}
const broken = ({ kind, chainSeq, actual }: Break) => [
  kind,
  chainSeq,
  ...(actual?.startsWith("prune_") ? [actual] : actual === "unknown_key" ? ["prune_signature_invalid"] : []),
];
/** The verifier of the chain says nothing about a record that nobody signed; both programs do. */
const isOfChain = ({ kind }: Break) => kind !== "prune_unproven";

it("as a program ends with 0, 11 and 12 as rmm audit verify does", () => {
  const folder = mkdtempSync(join(tmpdir(), "rmm-second-"));
  const script = fileURLToPath(new URL("./verify-audit-bundle.mjs", import.meta.url));
  const ndjsonOf = (name: string) =>
    bundles
      .find((one) => one.name === name)!
      .lines.map((line) => `${JSON.stringify(line)}\n`)
      .join("");
  const run = (name: string, change = (text: string) => text) => {
    const { lines, outside, publicKeys } = bundles.find((one) => one.name === name)!;
    const ndjson = (list: readonly object[]) => list.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(join(folder, "bundle.ndjson"), change(ndjson(lines)));
    writeFileSync(join(folder, "anchors.ndjson"), ndjson(outside ?? []));
    const flags = ["--anchor-file", join(folder, "anchors.ndjson"), "--public-key", publicKeys[0]!];
    return spawnSync(process.execPath, [script, join(folder, "bundle.ndjson"), ...flags]).status;
  };
  expect(run("a pruned chain")).toBe(0);
  expect(run("entries cut, with an unsigned record")).toBe(11);
  expect(run("the end cut off with its anchor, which was kept elsewhere")).toBe(11);
  expect(run("a pruned chain", (text) => text.slice(0, -60))).toBe(12);
  expect(run("a pruned chain", (text) => text + text)).toBe(12);
  const [, ...entries] = /\n(\{"type":"entry"[^\n]*\n)(?=\{"type":"end")/.exec(ndjsonOf("a pruned chain")) ?? [];
  expect(entries).toHaveLength(1);
  expect(run("a pruned chain", (text) => text.replace(entries[0] as string, ""))).toBe(11);
  // A byte that is no UTF-8 is not taken for what a reader would put in its place, here in a time that no hash covers.
  const sound = Buffer.from(ndjsonOf("a pruned chain"));
  const at = sound.indexOf('"exportedAt":"') + 14;
  const spoiled = Buffer.concat([sound.subarray(0, at), Buffer.from([0xff]), sound.subarray(at + 1)]);
  const packed = gzipSync(sound);
  const files = {
    "sound.ndjson": sound,
    "spoiled.ndjson": spoiled,
    "whole.gz": packed,
    "cut.gz": packed.subarray(0, -20),
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  const endOf = (name: string) => spawnSync(process.execPath, [script, join(folder, name)]).status;
  expect([...Object.keys(files), "none.gz", "none.ndjson"].map(endOf)).toEqual([0, 12, 0, 12, 2, 2]);
  rmSync(folder, { recursive: true, force: true });
});

describe.each(bundles)("the bundle of $name", ({ publicKeys, outside, verdict, lines }) => {
  it("has the published verdict", async () => {
    const { ok, breaks, anchors } = await ours(text(lines), { publicKeys, outside: outside ?? undefined });
    expect(ok).toBe(verdict.ok);
    expect(sorted(breaks.map(broken))).toEqual(sorted(verdict.breaks.map(broken)));
    expect(sorted(anchors.problems.map(({ anchorSeq, reason }) => ({ anchorSeq, reason })))).toEqual(
      sorted(verdict.problems),
    );
  });

  it("has the same verdict from a verifier written from the description alone", async () => {
    const { breaks, problems } = await second(lines, outside ?? [], publicKeys);
    expect(sorted(breaks.filter(isOfChain).map(broken))).toEqual(sorted(verdict.breaks.map(broken)));
    expect(sorted(problems)).toEqual(sorted(verdict.problems.filter(({ reason }) => reason !== "count_shrank")));
    expect(breaks.filter(isOfChain).length + problems.length === 0).toBe(verdict.ok);
  });
});

it("the second verifier has 150 lines, and takes nothing but Node", () => {
  const source = readFileSync(new URL("./verify-audit-bundle.mjs", import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  expect([...source.matchAll(/from "([^"]+)"/g)].every(([, from]) => from?.startsWith("node:"))).toBe(true);
});
