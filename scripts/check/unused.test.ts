import { describe, expect, it } from "vitest";
import { sources } from "./sources.ts";
import { unusedFaults } from "./unused.ts";

describe("what is published", () => {
  it("happens: every error code and audit action is given by an endpoint or the server, every event is of a noun and told", async () => {
    expect(await unusedFaults()).toEqual([]);
  });

  it.each([
    ["an error code", "server/features/tenancy/sites/", /^error code SITE_NOT_EMPTY is answered by nothing/],
    ["an audit action", "server/features/fleet/", /^audit action device\.move_org\.target is written by nothing/],
    ["a kind of event", "server/features/tenancy/sites/", /^event kind site\.deleted is told by nothing/],
  ])("is found when nothing gives it any more: %s", async (_, room, says) => {
    const left = sources().filter(
      ({ path }) => !path.startsWith(room) && path !== "sdk/contract/resources/tenancy/sites.ts",
    );
    expect(await unusedFaults(left)).toContainEqual(expect.stringMatching(says));
  });

  it("is not kept alive by tests, commands or the list itself", async () => {
    const tests = sources().filter(({ path }) => !/^(server|sdk\/contract\/resources)\//.test(path));
    const words = { path: "server/features/tenancy/sites/sites.test.ts", text: '"NOT_FOUND" "device.move_org.target"' };
    const faults = await unusedFaults([...tests, words]);
    expect(faults).toContainEqual(expect.stringContaining("error code NOT_FOUND"));
    expect(faults).toContainEqual(expect.stringContaining("audit action device.move_org.target"));
  });
});
