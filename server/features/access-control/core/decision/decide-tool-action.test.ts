import { describe, expect, it } from "vitest";
import type { PamRule } from "#server/db/tables/pam-rules";
import { report, rule } from "#server/test/access-control/decisions";
import type { Candidate } from "./candidate.ts";
import { decideToolAction } from "./decide-tool-action.ts";
import { isTierStale, reachableTiers, toolTiers } from "./tool-tiers.ts";

const action = (given: Partial<Candidate> = {}): Candidate => ({
  ...report({
    flowType: "ai_tool_action",
    subjectUsername: "key:k1",
    toolName: "run_script",
    riskTier: 3,
    targetExecutablePath: null,
    targetExecutableHash: null,
    targetExecutableSigner: null,
    targetExecutableSignerThumbprint: null,
    targetPublisher: null,
    parentImage: null,
    commandLine: null,
  }),
  ...given,
});

const verdict = (
  rules: Partial<PamRule>[],
  given: Partial<Candidate> = {},
  sites: (string | null)[] = ["s1"],
  byDefault = "require_approval",
) =>
  decideToolAction(
    { rules: rules.map(rule), defaultUnmatchedVerdict: byDefault },
    { candidate: action(given), targetSiteIds: sites },
  ).verdict;

const scripts = { matchToolName: "run_script" } as const;

describe("what a key asks of a tool", () => {
  it("runs where it reads, whatever the rules; up to tier 2 unless a rule says otherwise; above it never by default", () => {
    expect(verdict([{ matchRiskTier: 0, verdict: "auto_deny" }], { riskTier: 0, toolName: "list_devices" })).toBe(
      "runs",
    );
    for (const riskTier of [1, 2])
      expect(verdict([], { riskTier, toolName: "resolve_alert" }, [], "auto_deny")).toBe("runs");
    expect(
      verdict([{ matchRiskTier: 2, verdict: "require_approval" }], { riskTier: 2, toolName: "resolve_alert" }),
    ).toBe("pending");
    for (const riskTier of [3, 4]) {
      expect(verdict([], { riskTier })).toBe("pending");
      expect(verdict([], { riskTier }, [], "auto_deny")).toBe("denied");
    }
  });

  it("meets rules about tools alone, in their order, by this tier alone, tool, key and time", () => {
    expect(verdict([{ matchUser: "key:k1" }])).toBe("pending");
    expect(verdict([{ ...scripts, matchUser: "key:k1" }])).toBe("auto_approved");
    expect(verdict([{ ...scripts, matchUser: "key:k2" }])).toBe("pending");
    expect(verdict([{ ...scripts, matchAdGroup: "Staff" }])).toBe("pending");
    expect(verdict([{ matchRiskTier: 4 }])).toBe("pending");
    expect(verdict([scripts, { ...scripts, verdict: "auto_deny", priority: 1 }])).toBe("denied");
    expect(verdict([{ ...scripts, timeWindow: { start: "11:00", end: "12:00" } }])).toBe("pending");
    expect(verdict([{ ...scripts, enabled: false }])).toBe("pending");
  });

  it("is approved by a rule of a site only where all devices stand there, and denied where any does", () => {
    const atSite = { ...scripts, siteId: "s1" };
    for (const [sites, approved, denied] of [
      [["s1"], true, true],
      [["s1", "s1"], true, true],
      [["s1", "s2"], false, true],
      [["s1", null], false, true],
      [["s2"], false, false],
      [[], false, false],
    ] as const) {
      expect(verdict([atSite], {}, [...sites])).toBe(approved ? "auto_approved" : "pending");
      expect(verdict([{ ...atSite, verdict: "auto_deny" }], {}, [...sites])).toBe(denied ? "denied" : "pending");
    }
  });

  it("is left to people where a rule is broken, ignores, is suspended or only says what is not meant", () => {
    expect(verdict([{ ...scripts, verdict: "ignore" }])).toBe("pending");
    expect(verdict([{ ...scripts, suspendedVerdict: "auto_approve" }])).toBe("pending");
    expect(verdict([{ matchToolName: "reboot", matchNegate: ["toolName"] }])).toBe("pending");
    expect(verdict([{ ...scripts, timeWindow: { start: "1", end: "2" } }])).toBe("pending");
    expect(verdict([scripts], { flowType: "uac_intercept" })).toBe("pending");
    for (const riskTier of [null, -1, 5, 1.5, Number.NaN]) expect(verdict([], { riskTier })).toBe("pending");
  });
});

describe("tiers that a rule can meet", () => {
  const of = (given: Partial<PamRule>) => reachableTiers(rule(given));
  it("are those of its tool, or of all the others", () => {
    expect(of(scripts)).toEqual([3, 4]);
    expect(of({ matchToolName: " Run_Script" })).toEqual([3, 4]);
    expect(of({ matchRiskTier: 2 })).toEqual([0, 1, 2, 3, 4]);
    expect(of({ ...scripts, matchNegate: ["toolName"], matchRiskTier: 4 })).toEqual([0, 1, 2, 3]);
    expect(of({ matchToolName: "unknown", matchRiskTier: 1 })).toBeNull();
    expect(of({ ...scripts, matchRiskTier: 1, matchNegate: ["riskTier"] })).toBeNull();
    expect(of({ matchUser: "pat" })).toBeNull();
    expect(isTierStale(rule({ ...scripts, matchRiskTier: 1 }))).toBe(true);
    expect(isTierStale(rule({ ...scripts, matchRiskTier: 4 }))).toBe(false);
    expect(isTierStale(rule({ ...scripts, matchRiskTier: 4, matchNegate: ["toolName"] }))).toBe(true);
    expect(
      Object.values(toolTiers)
        .flat()
        .every((tier) => tier >= 0 && tier <= 4),
    ).toBe(true);
  });
});
