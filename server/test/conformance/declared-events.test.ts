import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { caseOf } from "./cases.ts";
import { elsewhere } from "./declared-events.ts";

it("what endpoints may tell and the sweep does not see is told in the test that is named for it", () => {
  for (const [name, kinds] of Object.entries(elsewhere)) {
    for (const [kind, file] of Object.entries(kinds)) {
      expect(caseOf(name).endpoint.mayEmit, name).toContain(kind);
      const text = readFileSync(join("server/features", file), "utf8");
      expect(text.includes("eventsOf(") || text.includes("eventsAfter("), `${file} looks at events`).toBe(true);
      expect(text, file).toContain(`"${kind}"`);
    }
  }
});
