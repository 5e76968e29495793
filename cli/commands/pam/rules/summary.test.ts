import { expect, it } from "vitest";
import { summaryOf } from "./summary.ts";

it.each([
  [
    { matchPathGlob: "C:\\Tools\\**", matchUser: "pat", matchNegate: ["user" as const] },
    "path C:\\Tools\\**, not user pat",
  ],
  [{ matchSigner: "Contoso Ltd", matchHash: "cd".repeat(32) }, "signer Contoso Ltd, SHA-256 cdcdcdcd…"],
  [
    { matchSignerGroupId: "1", matchSignerGroupName: "Vendors", matchNegate: ["signerGroup" as const] },
    "not signers of Vendors",
  ],
  [{ matchSignerGroupId: "1", matchSignerGroupName: null }, "signers of a group"],
  [{ matchToolName: "run_script", matchRiskTier: 0 }, "tool run_script, tier 0"],
  [{ matchAdGroup: "Helpdesk", siteId: "1", siteName: "HQ" }, "members of Helpdesk, at HQ"],
])("says what %j matches", (rule, text) => {
  expect(summaryOf(rule)).toBe(text);
});

it.each([
  [{ start: "08:00", end: "17:00" }, "08:00-17:00 UTC"],
  [{ start: "00:00", end: "00:00", days: [0, 6], timezone: "Europe/Berlin" }, "Sa,Su all day Europe/Berlin"],
  [{ start: "22:00", end: "06:00", days: [1, 2, 3, 5, 0] }, "Mo-We,Fr,Su 22:00-06:00 UTC"],
  [{ start: "22:00", end: "06:00", days: [0, 1, 2, 3, 4, 5, 6] }, "Mo-Su 22:00-06:00 UTC"],
])("says when a rule with window %j holds", (timeWindow, text) => {
  expect(summaryOf({ timeWindow })).toBe(text);
});
