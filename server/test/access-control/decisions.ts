import { plainRule } from "#fixtures/nouns/access-control/pam-rules";
import type { PamRule } from "#server/db/tables/pam-rules";
import type { Candidate } from "#server/features/access-control/core/decision/candidate";
import { decide, type Rulebook } from "#server/features/access-control/core/decision/decide";
import type { PolicyEntry, SoftwarePolicy } from "#server/features/access-control/core/decision/software-policy";
import { atOnce } from "#server/features/access-control/core/decision/steps";

export const HASH = "ab".repeat(32);
export const PRINT = "cd".repeat(32);
const ORG = "00000000-0000-7000-8000-000000000001";

/** A report that carries everything, on a Wednesday. */
export const report = (given: Partial<Candidate> = {}): Candidate => ({
  orgId: ORG,
  deviceId: "00000000-0000-7000-8000-0000000000d1",
  siteId: null,
  flowType: "uac_intercept",
  subjectUsername: "CONTOSO\\pat",
  subjectGroups: ["Helpdesk", "Staff"],
  targetExecutablePath: "C:\\Program Files\\Tool\\tool.exe",
  targetExecutableHash: HASH,
  targetExecutableSigner: "Tool Maker",
  targetExecutableSignerThumbprint: PRINT,
  targetPublisher: "Tool Maker Inc",
  parentImage: "C:\\Windows\\explorer.exe",
  commandLine: '"C:\\Program Files\\Tool\\tool.exe" --install',
  toolName: null,
  riskTier: null,
  receivedAt: "2026-11-25T10:00:00.000Z",
  ...given,
});

let made = 0;

/** A rule of the organization; without anything given it says nothing of what it matches. */
export const rule = (given: Partial<PamRule> = {}): PamRule => {
  made += 1;
  const id = `00000000-0000-7000-8000-${String(made).padStart(12, "0")}`;
  return {
    ...plainRule("2026-11-01T00:00:00.000Z"),
    ...{ id, orgId: ORG, name: `rule ${made}`, verdict: "auto_approve" },
    ...given,
  };
};

export const book = (given: Partial<Rulebook> = {}): Rulebook => ({
  softwarePolicy: undefined,
  rules: [],
  groups: new Map(),
  defaultUnmatchedVerdict: "require_approval",
  ...given,
});

export const policy = (mode: SoftwarePolicy["mode"], ...executable: PolicyEntry[]): SoftwarePolicy => ({
  policyName: "Workstations",
  mode,
  executable,
});

export const decided = (rulebook: Partial<Rulebook>, candidate: Partial<Candidate> = {}) =>
  atOnce(decide(book(rulebook), report(candidate)));

export const verdict = (
  rules: Partial<PamRule>[],
  candidate: Partial<Candidate> = {},
  others: Partial<Rulebook> = {},
) => decided({ ...others, rules: rules.map(rule) }, candidate).verdict;
