import { describe, expect, it } from "vitest";
import { systemReasons } from "#server/db/system-reasons";
import { tableNames } from "#server/db/tables";
import { exitFaults } from "./exits.ts";
import { sources } from "./sources.ts";

describe("the exit from the tenant scope", () => {
  it.each([
    ["a handle without a reason", "const db = systemHandle(services.store);", /without a reason/],
    ["the handle of what may be lost", "services.store.volatile.selectFrom", /rate-limits/],
  ])("is not passed by: %s", async (_, text, says) => {
    const planted = { path: "server/features/fleet/devices/planted.ts", text };
    expect(await exitFaults([...sources(), planted])).toEqual([expect.stringMatching(says)]);
    expect(await exitFaults([...sources(), { path: "server/db/planted.ts", text }])).toEqual([]);
  });

  it("has no reason that nothing gives", async () => {
    const all = Object.keys(systemReasons);
    const withoutJobs = sources().filter(({ path }) => !path.startsWith("server/jobs/"));
    expect(await exitFaults(withoutJobs)).toEqual(
      ["run jobs", "lead schedules"].map((reason) => expect.stringContaining(`"${reason}"`)),
    );
    expect(await exitFaults([])).toHaveLength(all.length);
  });

  it.each(Object.entries(systemReasons))("says of %s which tables it covers", (_, { covers }) => {
    expect(covers.split(/\W+/).filter((word) => (tableNames as readonly string[]).includes(word))).not.toEqual([]);
  });
});
