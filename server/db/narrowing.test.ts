import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevices } from "../test/devices.ts";
import { makeSite } from "../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { type Scope, wallOf } from "./scope.ts";
import { scoped } from "./scoped.ts";

/** However a query meets its rows, it narrows them to the same organizations (`tenant-predicate.ts`, `Met`). */
describe.each(databases)("the ways to narrow devices on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let suspendedId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId: id, orgIds } = await seedPartner(server, "acme", ["acme", "acme-suspended"]);
    partnerId = id;
    suspendedId = orgIds[1] as string;
    for (const orgId of orgIds)
      await makeDevices(server, [{ orgId, siteId: await makeSite(server, orgId), hostname: `PC of ${orgId}` }]);
    await server.db.updateTable("organizations").set({ status: "suspended" }).where("id", "=", suspendedId).execute();
  });
  afterAll(() => server?.stop());

  async function found(
    more: Partial<Scope & { kind: "partner" }>,
    by: "key" | "partner" | "devices" | "devices by key",
  ) {
    const scope: Scope = { kind: "partner", partnerId, selected: null, userId: null, known: new Set(), ...more };
    const db = scoped(server.services.store.connection(wallOf(scope)), scope, { by });
    return (await db.selectFrom("devices").select("orgId").execute()).map(({ orgId }) => orgId);
  }

  it.each(["key", "partner", "devices", "devices by key"] as const)("reach the same by %s", async (by) => {
    expect(await found({}, by)).toHaveLength(2);
    const principal = { id: server.services.random.uuid(), selected: false };
    // A principal of the partner reaches what is active or on trial.
    expect(await found({ principal }, by)).not.toContain(suspendedId);
    expect(await found({ principal }, by)).toHaveLength(1);
    expect(await found({ principal: { ...principal, selected: true } }, by)).toEqual([]);
    expect(await found({ selected: server.services.random.uuid() }, by)).toEqual([]);
    expect(await found({ selected: "none" }, by)).toEqual([]);
  });
});
