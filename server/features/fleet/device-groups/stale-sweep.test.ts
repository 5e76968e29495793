import type { Transaction } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import type { Store } from "#server/db/dialect/index";
import type { Database } from "#server/db/tables";
import { HOUR } from "#server/platform/clock";
import type { Services } from "#server/services";
import { makeDevices } from "../../../test/devices.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { evaluateDue } from "./due.ts";
import { sweepGroups } from "./sweep-groups.ts";

/** The same services, but something happens once a look at devices has been answered, before it is written. */
function interrupted(services: Services, happens: () => Promise<void>): Services {
  let waits = true;
  const connection: Store["connection"] = (wall) => {
    const db = services.store.connection(wall);
    const transaction = () => ({
      async execute<R>(work: (tx: Transaction<Database>) => Promise<R>): Promise<R> {
        if (waits) await happens();
        waits = false;
        return db.transaction().execute(work);
      },
    });
    // A handle of its own: others begin transactions meanwhile.
    return Object.assign(db.withoutPlugins(), { transaction }) as unknown as typeof db;
  };
  return { ...services, store: { ...services.store, connection } };
}

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
    let happened = false;
    const late = interrupted(server.services, async () => {
      happened = true;
      await retag(after);
      // Another process takes the note: the device is where it belongs.
      await server.db.deleteFrom("deviceGroupDue").execute();
    });
    server.clock.advance(2 * HOUR);
    await sweepGroups(late);
    expect(happened).toBe(true);
    await evaluateDue(server.services);
    expect(await members()).toHaveLength(isMember ? 1 : 0);
    expect(await server.db.selectFrom("deviceGroupDue").select("seq").execute()).toEqual([]);
    await server.db.deleteFrom("deviceGroups").where("id", "=", groupId).execute();
  });
});
