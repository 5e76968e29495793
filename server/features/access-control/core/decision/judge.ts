import type { Datum, Facts } from "./candidate.ts";
import { foldName } from "./fold.ts";
import { covers, type Glob } from "./glob.ts";
import { remembered } from "./remembered.ts";
import type { Steps, Stepwise } from "./steps.ts";

/** Whether a criterion is met; `absent` where the candidate lacks what it looks at, `never` where nothing can meet it. */
export type Compared = "met" | "unmet" | "absent" | "never";

/** One criterion of a rule or entry. */
export interface Test {
  readonly datum: Datum;
  readonly negated: boolean;
  /** At once, or as work that may take long. */
  compare(facts: Facts, steps: Steps): Compared | Stepwise<Compared>;
}

/**
 * - `match`: every criterion is met. `asserted`: one of them says what the candidate is, and not only what it is not.
 * - `lacking`: none is unmet, and some cannot be judged because the candidate does not say who made the file.
 */
export type Outcome =
  | { readonly kind: "match"; readonly asserted: boolean }
  | { readonly kind: "lacking"; readonly missing: readonly Datum[] }
  | { readonly kind: "none" };

const none: Outcome = { kind: "none" };

/** Data that identify a file: what denies by them is not passed by leaving them out (docs/privileged-access.md, "Missing data"). */
const identifying: ReadonlySet<Datum> = new Set(["hash", "signer", "publisher", "signerThumbprint"]);

/** Judges criteria together. A datum that is absent meets neither a criterion nor its negation. */
export function* judge(tests: readonly Test[], facts: Facts, steps: Steps): Stepwise<Outcome> {
  if (tests.length === 0) return none;
  const missing: Datum[] = [];
  for (const { datum, negated, compare } of tests) {
    const comparing = compare(facts, steps);
    const compared = typeof comparing === "string" ? comparing : yield* comparing;
    if (compared === "never") return none;
    if (compared === "absent") {
      if (!identifying.has(datum) && !(datum === "parentImage" && facts.isParentUnusable)) return none;
      missing.push(datum);
    } else if ((compared === "met") === negated) return none;
  }
  if (missing.length > 0) return { kind: "lacking", missing: [...new Set(missing)] };
  return { kind: "match", asserted: tests.some(({ negated }) => !negated) };
}

type Compare = Test["compare"];

export function name(wanted: string, of: (facts: Facts) => string | undefined): Compare {
  const folded = foldedName(wanted);
  return plain(of, (value) => value === folded);
}

export function digest(wanted: string, of: (facts: Facts) => string | undefined): Compare {
  if (!/^[0-9a-f]{64}$/i.test(wanted)) throw new Error("a criterion holds a malformed digest");
  const lower = wanted.toLowerCase();
  return plain(of, (value) => value === lower);
}

/** A name of an account meets the last part of the reported one too, unless it says which domain it means. */
export function account(wanted: string): Compare {
  const folded = foldedName(wanted);
  const isWhole = /[\\@]/.test(folded);
  return plain(
    ({ user }) => user,
    ({ whole, last }) => whole === folded || (!isWhole && last === folded),
  );
}

/** One of several signers. Of none it is never met, negated or not. */
export const oneOf = (wanted: ReadonlySet<string>): Compare =>
  wanted.size === 0
    ? () => "never"
    : plain(
        (facts) => facts.signer,
        (signer) => wanted.has(signer),
      );

export function groupOf(wanted: string): Compare {
  const folded = foldedName(wanted);
  return plain(
    ({ groups }) => groups,
    (all) => all.has(folded),
  );
}

export const tier = (wanted: number): Compare =>
  plain(
    ({ riskTier }) => riskTier,
    (value) => value === wanted,
  );

/** Patterns are read when they are first compared, which costs as long as they are. */
export function glob(pattern: string, read: (pattern: string) => Glob, of: (facts: Facts) => Text): Compare {
  let wanted: Glob | undefined;
  return function* (facts, steps) {
    const text = of(facts);
    if (text === undefined) return "absent";
    if (wanted === undefined && steps.take(pattern.length)) yield;
    wanted ??= read(pattern);
    return (yield* covers(wanted, text, steps)) ? "met" : "unmet";
  };
}

type Text = readonly number[] | undefined;

function plain<T>(of: (facts: Facts) => T | undefined, isMet: (value: T) => boolean): Compare {
  return (facts) => {
    const value = of(facts);
    if (value === undefined) return "absent";
    return isMet(value) ? "met" : "unmet";
  };
}

const foldedName = remembered((wanted: string): string => {
  const name = foldName(wanted);
  if (name === "") throw new Error("a criterion is blank");
  return name;
});
