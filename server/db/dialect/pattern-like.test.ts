import { describe, expect, it } from "vitest";
import { patternAsLike } from "./pattern-like.ts";

describe("what every text is like in which a pattern is found", () => {
  it.each([
    ["100%", "%100\\%%"],
    ["%.*x", "%\\%%x%"],
    ["^%$", "\\%"],
    ["%+", "%\\%%"],
    ["%%.*%", "%\\%\\%%\\%%"],
    ["\\\\.*a", "%\\\\%a%"],
    ["^a_.*b.*.*c$", "a\\_%b%c"],
    ["x*", "%"],
    ["", "%"],
    ["a|b", "%"],
    ["^.{3}$", "___"],
    [`x{70}$`, `%${"x".repeat(60)}%`],
  ])("%j: %j", (pattern, like) => {
    expect(patternAsLike(pattern)).toBe(like);
  });

  it("has no character that no text of a database has", () => {
    for (const pattern of ["\\x00", "\\0a", "\\ud83d", "\\udc00$"])
      expect(patternAsLike(pattern)).not.toMatch(/[\0\ud800-\udfff]/);
    expect(patternAsLike("\\x00")).toBe("%_%");
  });
});
