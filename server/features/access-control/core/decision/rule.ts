import { negatedCriteria } from "#contract/core/pam-words";
import type { PamRule } from "#server/db/tables/pam-rules";
import type { Facts } from "./candidate.ts";
import { trimAscii } from "./fold.ts";
import { commandGlob, pathGlob } from "./glob.ts";
import {
  account,
  type Compared,
  digest,
  glob,
  groupOf,
  judge,
  name,
  type Outcome,
  oneOf,
  type Test,
  tier,
} from "./judge.ts";
import type { Steps, Stepwise } from "./steps.ts";
import { readWindow } from "./time-window.ts";

/** The criteria of a rule, and when it holds. */
export type Criteria = Pick<PamRule, "timeWindow" | "matchNegate" | Extract<keyof PamRule, `match${string}`>>;

/** Signers of each group by its id, as names are compared. */
export type SignerGroups = ReadonlyMap<string, ReadonlySet<string>>;

/** A criterion with the name by which it is turned round, and what it was written with. */
interface Criterion extends Test {
  readonly key: string;
  readonly wanted: string | number;
}

/** A rule that candidates are compared with. */
export interface ReadRule {
  isOn(at: Date): boolean;
  readonly tests: readonly Criterion[];
}

/**
 * Reads a rule (docs/privileged-access.md, "How a rule matches"), whoever wrote it into the database: what it says is
 * understood as a whole, or it throws and nothing is approved.
 */
export function readRule(rule: Criteria, groups: SignerGroups): ReadRule {
  const negated = new Set<string>(rule.matchNegate ?? []);
  if ([...negated].some((key) => !(negatedCriteria as readonly string[]).includes(key)))
    throw new Error("a rule negates what cannot be negated");
  const tests: Criterion[] = [];
  const add = <T extends string | number>(
    key: string,
    datum: Test["datum"],
    value: T | null,
    compare: (value: T) => Test["compare"],
  ) => {
    const isNegated = negated.delete(key);
    if (value === null && isNegated) throw new Error(`${key} is negated and not given`);
    if (value === null) return;
    if (typeof value === "string" && trimAscii(value) === "") throw new Error(`${key} is blank`);
    tests.push({ key, wanted: value, datum, negated: isNegated, compare: compare(value) });
  };
  const print = (wanted: string) => digest(wanted, (facts) => facts.thumbprint);
  // Cheap ones first.
  add("riskTier", "riskTier", rule.matchRiskTier, tier);
  add("toolName", "toolName", rule.matchToolName, (wanted) => name(wanted, (facts) => facts.toolName));
  add("hash", "hash", rule.matchHash, (wanted) => digest(wanted, (facts) => facts.hash));
  add("signerThumbprint", "signerThumbprint", rule.matchSignerThumbprint, print);
  add("signer", "signer", rule.matchSigner, (wanted) => name(wanted, (facts) => facts.signer));
  add("signerGroup", "signer", rule.matchSignerGroupId, (id) => oneOf(groups.get(id) ?? new Set()));
  add("user", "user", rule.matchUser, account);
  add("adGroup", "adGroup", rule.matchAdGroup, groupOf);
  add("parentImage", "parentImage", rule.matchParentImage, (wanted) =>
    glob(wanted, pathGlob, (facts) => facts.parentImage),
  );
  add("pathGlob", "path", rule.matchPathGlob, (wanted) => glob(wanted, pathGlob, (facts) => facts.path));
  add("commandLine", "commandLine", rule.matchCommandLine, (wanted) =>
    glob(wanted, commandGlob, (facts) => facts.commandLine),
  );
  return { isOn: rule.timeWindow ? readWindow(rule.timeWindow) : () => true, tests };
}

/** Whether a candidate meets a rule. */
export function* judgeRule({ isOn, tests }: ReadRule, facts: Facts, steps: Steps): Stepwise<Outcome> {
  if (!isOn(facts.at)) return { kind: "none" };
  return yield* judge(tests, facts, steps);
}

/** How each criterion of a rule compares, where all of them are looked at. */
export interface Comparison {
  readonly criterion: string;
  readonly wanted: string | number;
  readonly negated: boolean;
  readonly compared: Compared;
}

/** Compares criterion by criterion, for people: what decides is `judgeRule`. */
export function* compareEach({ tests }: ReadRule, facts: Facts, steps: Steps): Stepwise<Comparison[]> {
  const compared: Comparison[] = [];
  for (const { key, wanted, negated, compare } of tests) {
    const comparing = compare(facts, steps);
    const result = typeof comparing === "string" ? comparing : yield* comparing;
    compared.push({ criterion: key, wanted, negated, compared: result });
  }
  return compared;
}
