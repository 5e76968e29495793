import type { PamRule } from "#server/db/tables/pam-rules";
import { problem } from "#server/problem";
import { trimAscii } from "../core/decision/fold.ts";
import { wildcardsOf } from "../core/decision/glob.ts";
import { isTierStale, reachableTiers } from "../core/decision/tool-tiers.ts";

type Shape = Pick<PamRule, "verdict" | "matchNegate" | Extract<keyof PamRule, `match${string}`>>;

/** Wildcards of one pattern. */
const WILDCARDS_MAX = 32;

const executable = {
  signer: "matchSigner",
  signerGroup: "matchSignerGroupId",
  signerThumbprint: "matchSignerThumbprint",
  hash: "matchHash",
  pathGlob: "matchPathGlob",
  parentImage: "matchParentImage",
  commandLine: "matchCommandLine",
} as const;
const either = { user: "matchUser", adGroup: "matchAdGroup" } as const;
const tool = { toolName: "matchToolName", riskTier: "matchRiskTier" } as const;
const every = { ...executable, ...either, ...tool };
const patterns = ["matchPathGlob", "matchParentImage", "matchCommandLine"] as const;

/** Refuses a rule that says nothing, contradicts itself or approves without saying what (docs/privileged-access.md, "Rules"). */
export function refuseMisshapen(rule: Shape): void {
  const faults = [...faultsOf(rule)];
  if (faults.length > 0)
    throw problem("PAM_RULE_INVALID_SHAPE", { message: `The rule ${faults.join("; ")}`, details: { faults } });
  if (isTierStale(rule))
    throw problem("pam_rule_risk_tier_unreachable", { beside: { validTiers: reachableTiers(rule) } });
}

function* faultsOf(rule: Shape): Generator<string> {
  const given = Object.entries(every).filter(([, column]) => rule[column] !== null);
  const keys = new Set(given.map(([key]) => key));
  const has = (part: object) => Object.keys(part).some((key) => keys.has(key));
  const negated: ReadonlySet<string> = new Set(rule.matchNegate ?? []);
  if (keys.size === 0) yield "needs a criterion";
  if (has(executable) && has(tool)) yield "is about executables and tools at once";
  if (keys.has("signerGroup") && (keys.has("signer") || keys.has("signerThumbprint")))
    yield "takes a signer group, or a signer and thumbprint";
  for (const key of negated) if (!keys.has(key)) yield `negates ${key}, which it does not give`;
  for (const [, column] of given) {
    const value = rule[column];
    if (typeof value === "string" && trimAscii(value) === "") yield `has a blank ${column}`;
  }
  for (const column of ["matchHash", "matchSignerThumbprint"] as const)
    if (rule[column] !== null && !/^[0-9a-f]{64}$/i.test(rule[column]))
      yield `has a ${column} that is not 64 hexadecimal digits`;
  for (const column of patterns)
    if (wildcardsOf(rule[column] ?? "") > WILDCARDS_MAX) yield `has more than ${WILDCARDS_MAX} wildcards in ${column}`;
  const approves = rule.verdict === "auto_approve" || rule.verdict === "ignore";
  if (approves && keys.size > 0 && given.every(([key]) => negated.has(key)))
    yield `says only what is not meant, and would ${rule.verdict} everything else`;
  if (rule.verdict === "ignore" && has(tool)) yield "ignores tools, which is not possible";
}
