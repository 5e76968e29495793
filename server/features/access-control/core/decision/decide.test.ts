import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PamRule } from "#server/db/tables/pam-rules";
import { book, decided, HASH, PRINT, policy, report, rule, verdict } from "#server/test/access-control/decisions";
import type { Candidate } from "./candidate.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";
import { atOnce } from "./steps.ts";

const byTool = { matchSigner: "Tool Maker" } as const;

describe("the chain", () => {
  it("asks enabled rules of the organization and the site by priority, age and id, and the first decides", () => {
    const later = { createdAt: "2026-11-02T00:00:00.000Z" };
    expect(
      verdict([
        { ...byTool, verdict: "auto_deny" },
        { ...byTool, priority: 99 },
      ]),
    ).toBe("auto_approved");
    expect(verdict([{ ...byTool, ...later, verdict: "auto_deny" }, byTool])).toBe("auto_approved");
    expect(
      verdict([
        { ...byTool, id: "b", verdict: "auto_deny" },
        { ...byTool, id: "a" },
      ]),
    ).toBe("auto_approved");
    expect(verdict([{ ...byTool, enabled: false }])).toBe("pending");
    expect(verdict([{ ...byTool, siteId: "s1" }])).toBe("pending");
    expect(verdict([{ ...byTool, siteId: "s1" }], { siteId: "s2" })).toBe("pending");
    expect(verdict([{ ...byTool, siteId: "s1" }], { siteId: "s1" })).toBe("auto_approved");
    expect(verdict([{ ...byTool, orgId: "another" }])).toBe("pending");
  });

  it("names who decided, and for how long", () => {
    const approves = rule({ ...byTool, approvalDurationMinutes: 40 });
    expect(decided({ rules: [approves] })).toEqual({
      verdict: "auto_approved",
      decisionSource: "pam_rule",
      matchedPolicyName: null,
      pamRuleId: approves.id,
      pamRuleName: approves.name,
      durationMinutes: 40,
      denialReason: null,
      evidence: [],
    });
    expect(decided({ rules: [rule(byTool)] }).durationMinutes).toBe(15);
    const asks = rule({ ...byTool, verdict: "require_approval" });
    expect(decided({ rules: [asks] })).toMatchObject({ verdict: "pending", decisionSource: null, pamRuleId: asks.id });
    const denies = rule({ ...byTool, verdict: "auto_deny" });
    expect(decided({ rules: [denies] })).toMatchObject({
      verdict: "denied",
      decisionSource: "pam_rule",
      durationMinutes: null,
    });
    const dismisses = rule({ ...byTool, verdict: "ignore" });
    expect(decided({ rules: [dismisses] })).toMatchObject({ verdict: "ignored", pamRuleId: dismisses.id });
  });

  it("ends with the organization's default", () => {
    expect(decided({})).toMatchObject({ verdict: "pending", decisionSource: null, denialReason: null });
    expect(decided({ defaultUnmatchedVerdict: "auto_deny" })).toMatchObject({
      verdict: "denied",
      decisionSource: null,
      denialReason: "Blocked by organization default",
    });
    expect(() => decided({ defaultUnmatchedVerdict: "auto_approve" })).toThrow();
  });

  it("approves nothing by a suspended rule, by one that is broken, or what is no report", () => {
    const suspended = { ...byTool, verdict: "require_approval", suspendedVerdict: "auto_approve" } as const;
    expect(verdict([suspended])).toBe("pending");
    expect(() => verdict([{ ...suspended, verdict: "auto_approve" }])).toThrow();
    const broken = { start: "08:00", end: "18:00", timezone: "Mars/Olympus" };
    expect(() => verdict([{ ...byTool, timeWindow: broken }])).toThrow();
    expect(() => verdict([{ matchSigner: "Other", timeWindow: broken }, byTool])).toThrow();
    expect(() => verdict([{ ...byTool, approvalDurationMinutes: 0 }])).toThrow();
    expect(() => verdict([byTool], { flowType: "tech_jit_admin" })).toThrow();
    expect(verdict([{ timeWindow: { start: "00:00", end: "00:00" } }])).toBe("pending");
    expect(verdict([{ matchToolName: "run_script" }])).toBe("pending");
  });
});

describe("a software policy", () => {
  it("comes before the rules: a blocklist denies, an allowlist approves, an audit is noted", () => {
    const rules = [rule({ ...byTool, verdict: "auto_deny" })];
    const entry = { name: "Tool", signer: "tool maker" };
    expect(decided({ rules, softwarePolicy: policy("allowlist", entry) })).toMatchObject({
      verdict: "auto_approved",
      decisionSource: "software_policy",
      matchedPolicyName: "Workstations",
      durationMinutes: 15,
      pamRuleId: null,
    });
    expect(decided({ rules: [rule(byTool)], softwarePolicy: policy("blocklist", entry) })).toMatchObject({
      verdict: "denied",
      decisionSource: "software_policy",
      matchedPolicyName: "Workstations",
    });
    const audited = decided({ rules, softwarePolicy: policy("audit", { name: "Weak", pathGlob: "**" }, entry) });
    expect(audited.verdict).toBe("denied");
    expect(audited.evidence).toEqual([{ kind: "software_policy_audit", policyName: "Workstations", entry: "Tool" }]);
  });

  it("meets an entry by all that it gives, and by nothing that stands in for another", () => {
    const allows = (entry: object, candidate: Partial<Candidate> = {}) =>
      decided({ softwarePolicy: policy("allowlist", { name: "Tool", ...entry }) }, candidate).verdict;
    const whole = { sha256: HASH, signer: "Tool Maker", publisher: "tool maker inc", pathGlob: "c:/program files/**" };
    expect(allows(whole)).toBe("auto_approved");
    for (const lost of [
      "targetExecutableHash",
      "targetExecutableSigner",
      "targetPublisher",
      "targetExecutablePath",
    ] as const)
      expect(allows(whole, { [lost]: null })).toBe("pending");
    expect(allows({ ...whole, sha256: PRINT })).toBe("pending");
    expect(allows({ publisher: "Tool Maker" })).toBe("pending");
    expect(() => allows({})).toThrow();
  });
});

describe("what is denied by name", () => {
  const denial = [
    [{ matchHash: PRINT }, { targetExecutableHash: null }],
    [{ matchSigner: "Bad" }, { targetExecutableSigner: null }],
    [{ matchSigner: "Bad" }, { targetExecutableSigner: "Ba\u200bd" }],
    [{ matchSigner: "Tool Maker", matchNegate: ["signer" as const] }, { targetExecutableSigner: null }],
    [{ matchSignerThumbprint: HASH }, { targetExecutableSignerThumbprint: null }],
    [{ matchParentImage: "**/bad.exe" }, { parentImage: "C:\\x\\..\\bad.exe" }],
  ] as const;
  const later = [{ matchUser: "pat" }, { matchUser: "pat", verdict: "ignore" }] as const;

  it.each(denial)("is not approved or ignored by leaving the name out: %j", (criteria, lacks) => {
    for (const verdictOf of ["auto_deny", "require_approval"] as const)
      for (const approves of later) {
        const denies = { ...criteria, matchNegate: "matchNegate" in criteria ? [...criteria.matchNegate] : null };
        const first = { ...denies, verdict: verdictOf, priority: 1 };
        expect(verdict([first, approves], lacks)).toBe("pending");
        expect(verdict([{ ...first, priority: 200 }, approves], lacks)).not.toBe("pending");
        expect(verdict([{ ...first, matchUser: "lee" }, approves], lacks)).not.toBe("pending");
        expect(verdict([{ ...first, enabled: false }, approves], lacks)).not.toBe("pending");
      }
  });

  it("in a blocklist the same holds", () => {
    const softwarePolicy = policy("blocklist", { name: "Bad", publisher: "Bad Inc" });
    const rules = [rule({ matchUser: "pat" })];
    const left = decided({ softwarePolicy, rules }, { targetPublisher: null });
    expect(left).toMatchObject({ verdict: "pending", decisionSource: null, durationMinutes: null });
    expect(left.evidence.map(({ kind }) => kind)).toEqual(["missing_data", "withheld"]);
    expect(decided({ softwarePolicy, rules }).verdict).toBe("auto_approved");
    const denies = [rule({ matchUser: "pat", verdict: "auto_deny" })];
    expect(decided({ softwarePolicy, rules: denies }, { targetPublisher: null }).verdict).toBe("denied");
  });
});

describe("a path that is not canonical", () => {
  const odd = { targetExecutablePath: "C:\\Users\\..\\Program Files\\Tool\\tool.exe" };
  it("meets denials, and is never approved or ignored", () => {
    expect(verdict([{ matchPathGlob: "**/tool.exe", verdict: "auto_deny" }], odd)).toBe("denied");
    expect(verdict([{ matchPathGlob: "**/tool.exe" }], odd)).toBe("pending");
    expect(verdict([byTool], odd)).toBe("pending");
    expect(verdict([{ ...byTool, verdict: "ignore" }], odd)).toBe("pending");
    expect(verdict([], odd, { defaultUnmatchedVerdict: "auto_deny" })).toBe("denied");
    expect(verdict([], odd, { softwarePolicy: policy("allowlist", { name: "Tool", sha256: HASH }) })).toBe("pending");
    expect(verdict([], odd, { softwarePolicy: policy("blocklist", { name: "Tool", sha256: HASH }) })).toBe("denied");
  });
  it.each([" ", "\t\n"])("may be blanks alone: %j", (targetExecutablePath) => {
    expect(verdict([byTool], { targetExecutablePath })).toBe("pending");
    expect(verdict([{ ...byTool, verdict: "ignore" }], { targetExecutablePath })).toBe("pending");
    expect(verdict([{ matchPathGlob: "**", verdict: "auto_deny" }], { targetExecutablePath })).toBe("denied");
  });
});

describe("work without end", () => {
  it("is pending, whatever comes after it (C14)", () => {
    const heavy = { matchCommandLine: `${"*a".repeat(32)}*b`, verdict: "auto_deny" } as const;
    const commandLine = "a".repeat(24_000);
    const one = decided({ rules: [rule({ ...heavy, priority: 1 }), rule(byTool)] }, { commandLine });
    expect(one.verdict).toBe("auto_approved");
    const many = Array.from({ length: 5 }, () => rule({ ...heavy, priority: 1 }));
    const decision = decided({ rules: [...many, rule(byTool)] }, { commandLine });
    expect(decision).toMatchObject({ verdict: "pending", evidence: [{ kind: "undecided", why: "out_of_steps" }] });
  });
});

/** Values that meet, miss, break or lack each criterion, in any mixture. */
const anyRule = fc.record<Partial<PamRule>>(
  {
    verdict: fc.constantFrom("auto_approve", "auto_deny", "require_approval", "ignore"),
    enabled: fc.boolean(),
    priority: fc.integer({ min: 0, max: 3 }),
    siteId: fc.constantFrom(null, "s1", "s2"),
    matchSigner: fc.constantFrom(null, "Tool Maker", "Bad", " "),
    matchSignerThumbprint: fc.constantFrom(null, PRINT, HASH, "x"),
    matchHash: fc.constantFrom(null, HASH, PRINT),
    matchPathGlob: fc.constantFrom(null, "**", "c:/program files/**", "c:/windows/*"),
    matchUser: fc.constantFrom(null, "pat", "lee"),
    matchAdGroup: fc.constantFrom(null, "staff", "admins"),
    matchToolName: fc.constantFrom(null, null, "run_script"),
    matchNegate: fc.constantFrom(
      null,
      null,
      ["signer" as const],
      ["user" as const],
      ["hash" as const, "pathGlob" as const],
    ),
    timeWindow: fc.constantFrom(null, null, { start: "09:00", end: "17:00" }, { start: "x", end: "y" }),
    suspendedVerdict: fc.constantFrom(null, null, "auto_approve" as const),
  },
  { requiredKeys: [] },
);

const anyCandidate = fc.record<Partial<Candidate>>(
  {
    siteId: fc.constantFrom(null, "s1"),
    flowType: fc.constantFrom("uac_intercept", "uac_intercept", "uac_intercept", "tech_jit_admin"),
    subjectUsername: fc.constantFrom(null, "pat", "X\\lee", ""),
    subjectGroups: fc.constantFrom([], ["Staff"]),
    targetExecutablePath: fc.constantFrom(null, "C:\\Windows\\x.exe", "C:\\PROGRA~1\\x.exe"),
    targetExecutableHash: fc.constantFrom(null, HASH, "zz"),
    targetExecutableSigner: fc.constantFrom(null, "Tool Maker", "Tool Maker\u200f", "Bad"),
    targetPublisher: fc.constantFrom(null, "Tool Maker Inc"),
  },
  { requiredKeys: [] },
);

const anyPolicy = fc.option(
  fc.record({
    mode: fc.constantFrom("allowlist", "blocklist", "audit") as fc.Arbitrary<"allowlist" | "blocklist" | "audit">,
    entry: fc.constantFrom(
      { name: "T", sha256: HASH },
      { name: "P", publisher: "tool maker inc" },
      { name: "S", signer: "Bad" },
    ),
  }),
  { nil: undefined },
);

it("approves nothing without a decider that really matched, whatever comes in (C28)", () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 5 }), anyCandidate, anyPolicy, (given, candidate, given2) => {
      const rules = given.map(rule);
      const softwarePolicy = given2 && policy(given2.mode, given2.entry);
      let decision: Decision;
      try {
        decision = decided({ rules, softwarePolicy }, candidate);
      } catch {
        return; // pending, as `decideReport` makes it
      }
      if (decision.verdict !== "auto_approved" && decision.verdict !== "ignored") return;
      expect(decision.evidence.some(({ kind }) => kind === "missing_data" || kind === "withheld")).toBe(false);
      if (decision.decisionSource === "software_policy") {
        expect(given2?.mode).toBe("allowlist");
        expect(decision.matchedPolicyName).toBe("Workstations");
        return;
      }
      const decider = rules.find(({ id }) => id === decision.pamRuleId)!;
      expect(decider).toMatchObject({ enabled: true, suspendedVerdict: null });
      expect(decider.verdict).toBe(decision.verdict === "ignored" ? "ignore" : "auto_approve");
      // Alone it decides the same, and no longer once what it asserts is not there.
      expect(decided({ rules: [decider] }, candidate).verdict).toBe(decision.verdict);
      const bare: Partial<Candidate> = {
        ...candidate,
        subjectUsername: null,
        subjectGroups: [],
        targetExecutablePath: null,
        targetExecutableHash: null,
        targetExecutableSigner: null,
        targetExecutableSignerThumbprint: null,
        parentImage: null,
        commandLine: null,
      };
      expect(atOnce(decide(book({ rules: [decider] }), report(bare))).verdict).toBe("pending");
    }),
    { numRuns: 3_000 },
  );
});
