import { expect, it } from "vitest";
import { orgFilter } from "#server/features/sites/rules";

it("reads either name of the organization filter, and refuses two different ones", () => {
  expect(orgFilter({})).toBeUndefined();
  expect(orgFilter({ orgId: "a" })).toBe("a");
  expect(orgFilter({ organizationId: "b" })).toBe("b");
  expect(orgFilter({ orgId: "a", organizationId: "a" })).toBe("a");
  expect(() => orgFilter({ orgId: "a", organizationId: "b" })).toThrow("different organizations");
});
