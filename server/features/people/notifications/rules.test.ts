import { describe, expect, it } from "vitest";
import { cut, isOwnPath, moreUrgent } from "./rules.ts";

describe("a link of a notification", () => {
  it.each(["/", "/alerts/1", "/a?b=//c#d"])("may be %j", (link) => expect(isOwnPath(link)).toBe(true));

  it.each([
    "",
    "alerts",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\\/evil.example",
    " /alerts",
    "https://evil.example",
    "javascript:alert(1)",
    `/${"a".repeat(500)}`,
  ])("may not be %j", (link) => expect(isOwnPath(link)).toBe(false));
});

it("a text is cut at whole letters, with a sign that it was", () => {
  expect(cut("😀😀😀", 3)).toBe("😀😀😀");
  expect(cut("😀😀😀😀", 3)).toBe("😀😀…");
});

it("the more urgent of two counts", () => {
  expect([moreUrgent("low", "high"), moreUrgent("urgent", "normal")]).toEqual(["high", "urgent"]);
});
