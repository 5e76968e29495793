import type { Candidate } from "#server/features/access-control/core/decision/candidate";
import { decide } from "#server/features/access-control/core/decision/decide";
import { atOnce } from "#server/features/access-control/core/decision/steps";
import type { Bench } from "./bench.ts";
import { type AgentAct, byAgents } from "./by-agents.ts";
import { report, rulesOf } from "./seed-rules.ts";

const RULES = 1_000;
/** So many that none meets its limit of reports a minute. */
const AGENTS = 6_000;

/** From the report of a prompt to its verdict, and the decision alone. */
export const elevations: readonly Bench[] = [
  reported({ database: "SQLite", rules: RULES, least: 0.01 }),
  reported({ database: "Postgres", rules: RULES, least: 0.01 }),
  reported({ database: "SQLite", rules: 20, least: 0.05 }),
  reported({ database: "Postgres", rules: 20, least: 0.02 }),
  decidedAlone(),
];

/** The last rule approves, so that all are asked. */
function reported(given: Pick<AgentAct, "database" | "least"> & { readonly rules: number }): Bench {
  const { rules, ...rest } = given;
  return byAgents({
    ...rest,
    name: `elevation: report → verdict with ${rules} rules`,
    ...{ method: "POST", path: "elevation-requests", body: report, unit: "reports/s" },
    fleet: { agents: { count: AGENTS, commands: 0 }, rules },
  });
}

const ROUND_MS = 1_000;

/** Without the database: reading the rules and asking them, against reading the same rules as JSON. */
function decidedAlone(): Bench {
  const orgId = "7b2ce6f1-8f2f-4f3a-9a51-0b1c77d5a001";
  const now = "2026-01-01T00:00:00.000Z";
  const rules = rulesOf(RULES, now, orgId, () => crypto.randomUUID());
  const text = JSON.stringify(rules);
  const book = { softwarePolicy: undefined, rules, groups: new Map(), defaultUnmatchedVerdict: "require_approval" };
  const candidate: Candidate = {
    ...{ orgId, deviceId: orgId, siteId: orgId, flowType: "uac_intercept", receivedAt: now },
    ...{ subjectUsername: report.subject_username, subjectGroups: report.subject_groups },
    targetExecutablePath: report.target_executable_path,
    targetExecutableHash: report.target_executable_hash,
    targetExecutableSigner: report.target_executable_signer,
    targetExecutableSignerThumbprint: report.target_executable_signer_thumbprint,
    ...{ targetPublisher: report.target_publisher, parentImage: report.parent_image, commandLine: report.command_line },
    ...{ toolName: null, riskTier: null },
  };
  const decided = () => {
    if (atOnce(decide(book, candidate)).verdict !== "auto_approved") throw new Error("the last rule approves");
  };
  return {
    name: `elevation: decision alone with ${RULES} rules, per rule ÷ reading the rule as JSON`,
    limit: { kind: "max", value: 4 },
    run: async () => ({ measured: perRule(decided), against: perRule(() => JSON.parse(text)), unit: "µs" }),
  };
}

/** Microseconds. */
function perRule(work: () => unknown): number {
  const end = performance.now() + ROUND_MS;
  const began = performance.now();
  let done = 0;
  while (performance.now() < end) {
    work();
    done += 1;
  }
  return ((performance.now() - began) * 1_000) / (done * RULES);
}
