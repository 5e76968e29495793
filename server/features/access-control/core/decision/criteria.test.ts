import { describe, expect, it } from "vitest";
import type { PamRule } from "#server/db/tables/pam-rules";
import { HASH, PRINT, verdict } from "#server/test/access-control/decisions";
import type { Candidate } from "./candidate.ts";

const GROUP = "00000000-0000-7000-8000-0000000000aa";
const groups = new Map([[GROUP, new Set(["tool maker", "other"])]]);

interface Case {
  readonly key: string;
  readonly meets: Partial<PamRule>;
  readonly misses: Partial<PamRule>;
  readonly absent: Partial<Candidate>;
  readonly malformed?: Partial<Candidate>;
  readonly cannotNegate?: true;
}

const cases: Case[] = [
  {
    key: "signer",
    meets: { matchSigner: " TOOL maker" },
    misses: { matchSigner: "Tool Maker Inc" },
    absent: { targetExecutableSigner: null },
    malformed: { targetExecutableSigner: "Tool\u200bMaker" },
  },
  {
    key: "signerGroup",
    meets: { matchSignerGroupId: GROUP },
    misses: { matchSignerGroupId: "00000000-0000-7000-8000-0000000000ab", matchUser: "pat" },
    absent: { targetExecutableSigner: "  " },
    malformed: { targetExecutableSigner: "Tool Maker\u202e" },
  },
  {
    key: "signerThumbprint",
    meets: { matchSignerThumbprint: PRINT.toUpperCase() },
    misses: { matchSignerThumbprint: HASH },
    absent: { targetExecutableSignerThumbprint: null },
    malformed: { targetExecutableSignerThumbprint: PRINT.slice(1) },
    cannotNegate: true,
  },
  {
    key: "hash",
    meets: { matchHash: HASH.toUpperCase() },
    misses: { matchHash: PRINT },
    absent: { targetExecutableHash: null },
    malformed: { targetExecutableHash: `${HASH.slice(1)}g` },
  },
  {
    key: "pathGlob",
    meets: { matchPathGlob: "c:/program files/**/TOOL.EXE" },
    misses: { matchPathGlob: "c:/program files/*.exe" },
    absent: { targetExecutablePath: "" },
    malformed: { targetExecutablePath: "C:\\Program Files\\Tool\\.\\tool.exe" },
  },
  {
    key: "parentImage",
    meets: { matchParentImage: "*:\\windows\\explorer.exe" },
    misses: { matchParentImage: "explorer.exe" },
    absent: { parentImage: null },
    malformed: { parentImage: "C:\\Windows\\..\\Windows\\explorer.exe" },
  },
  {
    key: "commandLine",
    meets: { matchCommandLine: "--INSTALL" },
    misses: { matchCommandLine: "--install*x" },
    absent: { commandLine: null },
  },
  {
    key: "user",
    meets: { matchUser: "Pat" },
    misses: { matchUser: "pa" },
    absent: { subjectUsername: null },
  },
  {
    key: "adGroup",
    meets: { matchAdGroup: "helpdesk" },
    misses: { matchAdGroup: "help" },
    absent: { subjectGroups: [] },
  },
];

describe.each(cases)("criterion $key", ({ key, meets, misses, absent, malformed, cannotNegate }) => {
  // Something else that is asserted, so that the rule may approve.
  const other: Partial<PamRule> = key === "user" ? { matchSigner: "Tool Maker" } : { matchUser: "pat" };
  const negated = { ...other, matchNegate: [key] as PamRule["matchNegate"] };
  const of = (rule: Partial<PamRule>, candidate: Partial<Candidate> = {}) => verdict([rule], candidate, { groups });

  it("is met by its datum alone", () => {
    expect(of(meets)).toBe("auto_approved");
    expect(of(misses)).toBe("pending");
  });

  it("is not met by a candidate that lacks the datum or has it malformed", () => {
    expect(of(meets, absent)).toBe("pending");
    if (malformed) expect(of(meets, malformed)).toBe("pending");
  });

  it("turned round never makes missing data a match", () => {
    if (cannotNegate) return expect(() => of({ ...negated, ...meets })).toThrow("cannot be negated");
    expect(of({ ...negated, ...meets })).toBe("pending");
    if (key !== "signerGroup") expect(of({ ...negated, ...misses })).toBe("auto_approved");
    expect(of({ ...negated, ...misses }, absent)).toBe("pending");
    if (malformed) expect(of({ ...negated, ...misses }, malformed)).toBe("pending");
  });

  it("cannot be turned round without being given, nor be blank", () => {
    expect(() => of({ ...other, matchNegate: [key] as PamRule["matchNegate"] })).toThrow();
    const [column = ""] = Object.keys(meets);
    if (column !== "matchSignerGroupId") expect(() => of({ ...other, [column]: " " })).toThrow();
  });

  it("alone and turned round approves nothing", () => {
    if (cannotNegate || key === "signerGroup") return;
    expect(() => of({ ...misses, matchNegate: [key] as PamRule["matchNegate"] })).toThrow("must not");
  });
});

it("a signer group without signers is never met, turned round or not", () => {
  const empty = new Map([[GROUP, new Set<string>()]]);
  const denies = { verdict: "auto_deny", matchSignerGroupId: GROUP } as const;
  for (const groups of [empty, new Map()])
    for (const matchNegate of [null, ["signerGroup" as const]])
      expect(verdict([{ ...denies, matchNegate }], {}, { groups })).toBe("pending");
});

it("criteria hold together: the right name without its thumbprint is another signer (C27)", () => {
  const both = { matchSigner: "Tool Maker", matchHash: HASH, matchUser: "pat" };
  expect(verdict([both])).toBe("auto_approved");
  expect(verdict([both], { targetExecutableHash: PRINT })).toBe("pending");
  const pinned = { matchSigner: "Tool Maker", matchSignerThumbprint: PRINT };
  expect(verdict([pinned])).toBe("auto_approved");
  for (const other of [null, HASH])
    expect(verdict([pinned], { targetExecutableSignerThumbprint: other })).toBe("pending");
});

describe("a user", () => {
  it.each([
    ["pat", "CONTOSO\\pat", true],
    ["PAT", "a\\b\\Pat", true],
    ["pat", "pat@contoso.example", false],
    ["contoso\\pat", "CONTOSO\\Pat", true],
    ["contoso\\pat", "pat", false],
    ["contoso\\pat", "x\\contoso\\pat", false],
    ["pat@contoso.example", "PAT@contoso.example", true],
    ["pat@contoso.example", "CONTOSO\\pat@contoso.example", false],
    ["stra\u00dfe", "STRASSE", false],
    ["\u0131", "I", false],
  ])("%j of a rule meets %j: %j", (matchUser, subjectUsername, meets) => {
    expect(verdict([{ matchUser }], { subjectUsername })).toBe(meets ? "auto_approved" : "pending");
  });
});

it("compares signers without normalisation", () => {
  expect(verdict([{ matchSigner: "Cafe\u0301" }], { targetExecutableSigner: "Caf\u00e9" })).toBe("pending");
  expect(verdict([{ matchSigner: "\u00c9clair" }], { targetExecutableSigner: "\u00e9clair" })).toBe("auto_approved");
  expect(verdict([{ matchSigner: "Tool Maker" }], { targetExecutableSigner: "Tool Maker\u00a0" })).toBe("pending");
});
