import type { Datum, Facts } from "./candidate.ts";
import { trimAscii } from "./fold.ts";
import { pathGlob } from "./glob.ts";
import { digest, glob, judge, name, type Test } from "./judge.ts";
import type { Steps, Stepwise } from "./steps.ts";

/** An entry of a software policy: all that it says beside its name must be true. */
export interface PolicyEntry {
  readonly name: string;
  readonly sha256?: string | undefined;
  readonly signer?: string | undefined;
  readonly publisher?: string | undefined;
  readonly pathGlob?: string | undefined;
}

/** The software policy in force on a device, with the name of the configuration policy that brings it. */
export interface SoftwarePolicy {
  readonly policyName: string;
  readonly mode: "allowlist" | "blocklist" | "audit";
  readonly executable: readonly PolicyEntry[];
}

/** The strongest entry that is met, and those that the candidate lacks data for. */
export interface PolicyOutcome {
  readonly hit: PolicyEntry | undefined;
  readonly lacking: readonly { readonly entry: PolicyEntry; readonly missing: readonly Datum[] }[];
}

/** Judges entries from the strongest kind of datum to the weakest, so that what is shown is the best reason. */
export function* judgePolicy({ executable }: SoftwarePolicy, facts: Facts, steps: Steps): Stepwise<PolicyOutcome> {
  const lacking: { entry: PolicyEntry; missing: readonly Datum[] }[] = [];
  const read = executable.map((entry) => ({ entry, tests: testsOf(entry) }));
  for (const { entry, tests } of read.sort((a, b) => strength(a.entry) - strength(b.entry))) {
    const outcome = yield* judge(tests, facts, steps);
    if (outcome.kind === "match") return { hit: entry, lacking };
    if (outcome.kind === "lacking") lacking.push({ entry, missing: outcome.missing });
  }
  return { hit: undefined, lacking };
}

/** Place of its strongest datum: the less, the stronger. */
const strength = ({ sha256, signer, publisher, pathGlob }: PolicyEntry): number =>
  [sha256, signer, publisher, pathGlob].findIndex((value) => typeof value === "string");

function testsOf(entry: PolicyEntry): Test[] {
  const tests: Test[] = [];
  const add = (datum: Datum, value: string | null | undefined, compare: (value: string) => Test["compare"]) => {
    if (value === undefined || value === null) return;
    if (trimAscii(value) === "") throw new Error(`${datum} of an entry is blank`);
    tests.push({ datum, negated: false, compare: compare(value) });
  };
  add("hash", entry.sha256, (wanted) => digest(wanted, (facts) => facts.hash));
  add("signer", entry.signer, (wanted) => name(wanted, (facts) => facts.signer));
  add("publisher", entry.publisher, (wanted) => name(wanted, (facts) => facts.publisher));
  add("path", entry.pathGlob, (wanted) => glob(wanted, pathGlob, (facts) => facts.path));
  if (tests.length === 0) throw new Error("an entry says nothing of what it means");
  return tests;
}
