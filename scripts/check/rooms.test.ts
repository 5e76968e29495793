import { describe, expect, it } from "vitest";
import { roomFaults } from "./rooms.ts";
import { sources } from "./sources.ts";

const room = (path: string, ...imports: string[]) => ({
  path: `server/features/${path}`,
  text: imports.map((from) => `import { it } from "${from}";\n`).join(""),
});

describe("rooms of features", () => {
  it.each(["queries", "routes", "hooks", "schedules", "jobs"])("keep their %s to themselves", async (own) => {
    const planted = room("fleet/agents/planted.ts", `#server/features/tenancy/sites/${own}`);
    expect(await roomFaults([...sources(), planted])).toEqual([
      expect.stringContaining(`imports server/features/tenancy/sites/${own}.ts, which is its room's own`),
    ]);
    expect(await roomFaults([room("tenancy/sites/list.ts", `./${own}.ts`)])).toEqual([]);
  });

  it("finds a circle planted in the tree, and says which files close it", async () => {
    const planted = room("people/core/planted.ts", "#server/features/sign-in/core/tokens");
    const faults = await roomFaults([...sources(), planted]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^rooms in a circle: /);
    expect(faults[0]).toContain("people/core (server/features/people/core/planted.ts) → sign-in/core");
  });

  it("finds a circle over areas, over several rooms, of types alone and with relative paths", async () => {
    const faults = await roomFaults([
      room("tenancy/sites/a.ts", "../../fleet/devices/b.ts"),
      room("fleet/devices/b.ts", "#server/features/audit/audit-logs/c"),
      { path: "server/features/audit/audit-logs/c.ts", text: 'import type { A } from "../../tenancy/sites/a.ts";\n' },
    ]);
    expect(faults).toEqual([
      "rooms in a circle: tenancy/sites (server/features/tenancy/sites/a.ts) → fleet/devices (server/features/fleet/devices/b.ts) " +
        "→ audit/audit-logs (server/features/audit/audit-logs/c.ts) → tenancy/sites",
    ]);
  });

  it("lets tests import what they test with", async () => {
    expect(
      await roomFaults([
        room("tenancy/sites/sites.test.ts", "#server/features/fleet/devices/queries"),
        room("fleet/devices/b.ts", "#server/features/tenancy/sites/insert-site"),
      ]),
    ).toEqual([]);
  });
});
