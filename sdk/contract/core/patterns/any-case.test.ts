import { expect, it } from "vitest";
import { foldCase } from "./any-case.ts";

/** All characters that may differ from another by case, of all of Unicode. */
const cased = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point))
  .filter((sign) => /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(sign));

it("characters compare without case as the platform's regular expressions compare them", () => {
  const all = cased.join("");
  expect(cased.length).toBeGreaterThan(2_500);
  const different = cased.filter((sign) => {
    const folded = foldCase(sign);
    const same = cased.filter((other) => foldCase(other) === folded).join("");
    return same !== [...all.matchAll(new RegExp(sign, "giu"))].join("");
  });
  expect(different).toEqual([]);
});

it.each([
  ["\ufb05", "\ufb06"],
  ["\u0390", "\u1fd3"],
  ["\u03b0", "\u1fe3"],
])("%s and %s have nothing in common but their several capitals", (one, other) => {
  const isSame = /^(.)\1$/iu.test(one + other);
  expect(foldCase(one) === foldCase(other)).toBe(isSame);
});
