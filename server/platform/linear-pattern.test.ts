import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPattern } from "./linear-pattern.ts";

const pattern = (source: string) => {
  const read = readPattern(source);
  if ("refused" in read) throw new Error(`${source} ${read.refused}`);
  return read;
};
const refusal = (source: string) => {
  const read = readPattern(source);
  return "refused" in read ? read.refused : undefined;
};

/** Patterns of the dialect, written at random. */
const escapes = fc.constantFrom("\\d", "\\D", "\\w", "\\W", "\\s", "\\S");
const signs = fc.constantFrom("a", "B", "7", "_", " ", "é", "-", "\\.", "\\n", "\\x41", "\\u00e9", "\\-", "/");
const sets = fc
  .tuple(fc.boolean(), fc.array(fc.oneof(signs, escapes, fc.constantFrom("a-f", "0-3")), { maxLength: 3 }))
  .map(([not, members]) => `[${not ? "^" : ""}${members.filter((one) => one !== "-").join("")}]`);
const atoms = fc.oneof(signs, escapes, sets, fc.constantFrom(".", "^", "$", "\\b", "\\B"));
const counts = fc.constantFrom("", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,}");
const repeatable = fc.oneof(signs, escapes, sets, fc.constant("."));
const pieces = fc.oneof(
  atoms,
  fc.tuple(repeatable, counts).map(([atom, count]) => atom + count),
  fc
    .tuple(fc.array(atoms, { minLength: 1, maxLength: 3 }), fc.array(atoms, { maxLength: 2 }))
    .map(([one, other]) => `(${one.join("")}|${other.join("")})`),
);
const patterns = fc.array(pieces, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
const texts = fc.string({
  unit: fc.constantFrom("a", "B", "7", "_", " ", "é", "É", "-", ".", "A", "/", "\n", "\u2028", "\u00a0", "😀"),
  maxLength: 8,
});

describe("patterns", () => {
  it("mean what they mean in ECMAScript", () => {
    fc.assert(
      fc.property(patterns, texts, (source, text) => {
        // V8 also looks between the halves of a character there.
        fc.pre(!(source.includes("\\B") && text.includes("😀")));
        const own = pattern(source);
        // By code point, which is what the flag is for; it takes no needless escapes.
        const plain = source.replaceAll("\\-", "\\x2d");
        expect([source, text, own.finds(text)]).toEqual([source, text, new RegExp(plain, "u").test(text)]);
        const whole = new RegExp(`^(?:${plain})$`, "u").test(text);
        expect([source, text, own.covers(text)]).toEqual([source, text, whole]);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["(?=a)", /looks around/],
    ["(?<!a)b", /looks around/],
    ["(a)\\1", /refers back/],
    ["a{101}", /counts above 100/],
    ["(a{100}){30}", /more than 2000 states/],
    ["((a{10}){10}){100}", /states/],
    ["a(", /open/],
    ["a)", /not open/],
    ["[a", /class open/],
    ["a\\", /backslash/],
    ["*a", /repeats nothing/],
    ["a**", /repeats a repetition/],
    ["\\p{L}", /unknown escape/],
    ["[z-a]", /backwards/],
    ["a(?i)b", /flag/],
    ["a".repeat(251), /at most 250/],
  ])("refuse %s", (source, why) => expect(refusal(source)).toMatch(why));

  it("take (?i) in front, and without it see the case", () => {
    expect([pattern("(?i)stra").finds("XSTRAX"), pattern("stra").finds("XSTRAX")]).toEqual([true, false]);
  });

  it("that make a backtracking engine run for years are answered at once", () => {
    const started = performance.now();
    expect(pattern("(a+)+$").finds(`${"a".repeat(20_000)}b`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("may count within counts", () => {
    const nested = pattern("^((a{0,30}){10}b){2,6}$");
    expect([nested.finds("aab".repeat(6)), nested.finds("aab".repeat(7))]).toEqual([true, false]);
  });

  it.each([
    ["(?i)straße", "STRAßE", true],
    ["(?i)ẞ", "ß", true],
    ["(?i)[α-ω]", "Σ", true],
    ["(?i)οδος", "ΟΔΟΣ", true],
    ["(?i)\\u212a", "k", true],
    ["(?i)[^k]", "K", false],
    ["(?i)ı", "I", false],
  ])("%s on %s ignores the case of any script", (source, text, found) =>
    expect(pattern(source).finds(text)).toBe(found),
  );

  it("take a character outside the basic plane as one", () => {
    expect(pattern(".").covers("😀")).toBe(true);
  });
});
