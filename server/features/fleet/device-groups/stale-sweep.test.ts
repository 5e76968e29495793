import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { HOUR } from "#server/platform/clock";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { evaluateDue } from "./due.ts";
import { sweepGroups } from "./sweep-groups.ts";

/** What happens once a look at the devices of a group has been answered, and before it is written. */
const between = vi.hoisted(() => ({ happens: undefined as ((groupId: string) => Promise<void>) | undefined }));
vi.mock("./matching.ts", async (original) => {
  const real = await original<typeof import("./matching.ts")>();
  const differenceOf: typeof real.differenceOf = async (...asked) => {
    const found = await real.differenceOf(...asked);
    await between.happens?.(asked[2]);
    return found;
  };
  return { ...real, differenceOf };
});

describe.each(databases)("a sweep that is written late on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
  });
  afterAll(() => server?.stop());

  it.each([
    { before: ["swept"], after: [], isMember: false },
    { before: [], after: ["swept"], isMember: true },
  ])("leaves nobody where a newer look had put them: $before becomes $after", async ({ before, after, isMember }) => {
    const { orgId, siteId, partnerId } = acme;
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    const [deviceId] = (await makeDevices(server, [{ orgId, siteId, tags: ["swept"] }])) as [string];
    const filterConditions = {
      operator: "AND",
      conditions: [{ field: "tags", operator: "hasAny", value: ["swept"] }],
    };
    const body = { orgId, name: `Swept ${isMember}`, type: "dynamic", filterConditions };
    const groupId = (await server.request("POST", "/groups", { token, body })).body.id as string;
    await evaluateDue(server.services);
    const retag = (tags: string[]) =>
      server.db.updateTable("devices").set({ tags }).where("id", "=", deviceId).execute();
    const members = () =>
      server.db
        .selectFrom("deviceGroupMembers")
        .select("deviceId")
        .where("groupId", "=", groupId)
        .where("deviceId", "=", deviceId)
        .execute();
    // The sweep finds that the device is to join, or to leave.
    await retag(before);
    await server.db.deleteFrom("deviceGroupDue").execute();
    if (!isMember) await server.db.deleteFrom("deviceGroupMembers").where("deviceId", "=", deviceId).execute();
    expect(await members()).toHaveLength(isMember ? 1 : 0);
    between.happens = async (id) => {
      if (id !== groupId) return;
      between.happens = undefined;
      await retag(after);
      // Another process takes the note: the device is where it belongs.
      await server.db.deleteFrom("deviceGroupDue").execute();
    };
    server.clock.advance(2 * HOUR);
    await sweepGroups(server.services);
    expect(between.happens).toBeUndefined();
    await evaluateDue(server.services);
    expect(await members()).toHaveLength(isMember ? 1 : 0);
    expect(await server.db.selectFrom("deviceGroupDue").select("seq").execute()).toEqual([]);
    await server.db.deleteFrom("deviceGroups").where("id", "=", groupId).execute();
  });
});
