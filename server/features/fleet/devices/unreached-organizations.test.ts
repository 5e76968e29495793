import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("devices of organizations out of reach, on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let keptId: string;
  let lostId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId: id, orgIds } = await seedPartner(server, "acme", ["acme", "acme-lost"]);
    partnerId = id;
    [keptId, lostId] = orgIds as [string, string];
    await makeDevices(server, [
      { orgId: keptId, siteId: await makeSite(server, keptId), hostname: "PC-kept", tags: ["till"], osType: "linux" },
      { orgId: lostId, siteId: await makeSite(server, lostId), hostname: "PC-lost", tags: ["till"], osType: "linux" },
    ]);
  });
  afterAll(() => server?.stop());

  const asks: [string, object][] = [
    ["an index knows", { field: "tags", operator: "hasAny", value: ["till"] }],
    ["no index knows", { field: "osType", operator: "equals", value: "linux" }],
    ["names", { field: "hostname", operator: "contains", value: "pc-" }],
    ["patterns", { field: "hostname", operator: "matches", value: "^PC-" }],
  ];

  /** What each list shows to a member of the partner, with the number that it tells. */
  async function shown(member: object = { role: "Partner Admin" }) {
    const { token } = await server.signIn({ partnerId, ...member } as Parameters<TestServer["signIn"]>[0]);
    const names = (devices: { hostname: string }[]) => devices.map(({ hostname }) => hostname).toSorted();
    const list = await server.request("GET", "/devices", { token });
    const found: Record<string, [number, string[]]> = {
      list: [list.body.pagination.total, names(list.body.data)],
    };
    for (const [name, condition] of asks) {
      const conditions = { operator: "AND", conditions: [condition] };
      const preview = await server.request("POST", "/filters/preview", { token, body: { conditions } });
      found[`preview: ${name}`] = [preview.body.data.totalCount, names(preview.body.data.devices)];
      const body = { conditions, includeTotal: true };
      const query = await server.request("POST", "/devices/query", { token, body });
      found[`query: ${name}`] = [query.body.total, names(query.body.devices)];
    }
    return found;
  }

  const each = (value: [number, string[]]) =>
    Object.fromEntries(
      ["list", ...asks.flatMap(([name]) => [`preview: ${name}`, `query: ${name}`])].map((name) => [name, value]),
    );

  it.each([
    ["deleted", { deletedAt: "2026-03-01T00:00:00.000Z" }],
    ["being purged", { status: "purging" }],
    ["archived", { status: "archived" }],
  ] as const)("are in no list and no number while one is %s", async (_, change) => {
    const back = { deletedAt: null, status: "active" } as const;
    expect(await shown()).toEqual(each([2, ["PC-kept", "PC-lost"]]));
    await server.db.updateTable("organizations").set(change).where("id", "=", lostId).execute();
    expect(await shown()).toEqual(each([1, ["PC-kept"]]));
    await server.db.updateTable("organizations").set(back).where("id", "=", lostId).execute();
  });

  it("are in no list and no number of a member who was granted another", async () => {
    const member = { role: "Partner Technician", orgAccess: "selected", orgIds: [keptId] };
    expect(await shown(member)).toEqual(each([1, ["PC-kept"]]));
  });
});
