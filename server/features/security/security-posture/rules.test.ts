import { expect, it } from "vitest";
import { judge, silent } from "./rules.ts";

const nothing = { realTimeProtection: null, firewallEnabled: null, encryptionStatus: null, threatCount: 0 };
const safe = { realTimeProtection: true, firewallEnabled: true, encryptionStatus: "encrypted", threatCount: 0 };

it.each([
  [safe, "protected", "low"],
  [{ ...safe, encryptionStatus: "partial" }, "protected", "low"],
  [{ ...nothing, realTimeProtection: true }, "protected", "low"],
  // Nobody said that it is protected.
  [nothing, null, null],
  [{ ...safe, realTimeProtection: null }, null, null],
  [{ ...safe, firewallEnabled: false }, "at_risk", "medium"],
  [{ ...safe, encryptionStatus: "unencrypted" }, "at_risk", "medium"],
  [{ ...safe, realTimeProtection: false }, "at_risk", "medium"],
  [{ ...safe, threatCount: 1 }, "at_risk", "medium"],
  [{ ...nothing, threatCount: 3 }, "at_risk", "high"],
  [{ ...safe, threatCount: 900 }, "at_risk", "high"],
  [{ ...safe, realTimeProtection: false, firewallEnabled: false }, "at_risk", "high"],
  [{ ...safe, realTimeProtection: false, threatCount: 3 }, "unprotected", "critical"],
])("%j is %s with a risk that is %s", (facts, status, riskLevel) => {
  expect(judge(facts)).toEqual({ status, riskLevel });
});

it("silence is a medium risk at least, and hides no higher one", () => {
  const levels = [null, "low", "medium", "high", "critical"] as const;
  expect(levels.map((level) => silent(level).riskLevel)).toEqual(["medium", "medium", "medium", "high", "critical"]);
});
