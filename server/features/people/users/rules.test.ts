import { describe, expect, it } from "vitest";
import { mergePreferences, refuseMisplacedAccess } from "#server/features/people/users/rules";

describe("an invitation", () => {
  it.each([
    ["partner", {}, undefined],
    ["partner", { orgAccess: "selected", orgIds: ["a"] }, undefined],
    ["partner", { orgAccess: "all", orgIds: [] }, undefined],
    ["partner", { orgAccess: "selected" }, "ORG_IDS_REQUIRED"],
    ["partner", { orgAccess: "selected", orgIds: [] }, "ORG_IDS_REQUIRED"],
    ["partner", { orgIds: ["a"] }, "ORG_IDS_NOT_ALLOWED"],
    ["partner", { siteIds: ["a"] }, "VALIDATION_ERROR"],
    ["organization", { siteIds: ["a"] }, undefined],
    ["organization", { orgIds: ["a"] }, "ORG_IDS_NOT_ALLOWED"],
    ["organization", { orgAccess: "all" }, "VALIDATION_ERROR"],
  ] as const)("to a %s with %j answers %s", (kind, fields, code) => {
    const check = () => refuseMisplacedAccess(kind, fields);
    if (code === undefined) check();
    else expect(check).toThrow(expect.objectContaining({ code }));
  });
});

describe("preferences", () => {
  it("merge key by key, and null removes", () => {
    expect(mergePreferences({ a: 1, b: { c: 2 } }, { b: { d: 3 }, a: null, e: 4 })).toEqual({ b: { d: 3 }, e: 4 });
  });

  it("stay within 64 KB as a whole", () => {
    const half = "x".repeat(40 * 1024);
    expect(() => mergePreferences({ a: half }, { b: half })).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR" }),
    );
  });
});
