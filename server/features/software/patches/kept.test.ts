import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { DAY } from "#server/platform/clock";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { dropUnused } from "./drop-unused.ts";

describe.each(databases)("patches that nobody reports any more on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    await server.db.deleteFrom("devicePatches").execute();
    await server.db.deleteFrom("patches").execute();
  });
  afterAll(() => server?.stop());

  const report = async (...numbers: number[]) => {
    await server.services.store.volatile.deleteFrom("rateLimits").execute();
    const pending = numbers.map((number) => ({
      source: "linux",
      externalId: `L${number}`,
      title: `Package ${number}`,
    }));
    const body = { pending, full: true };
    return server.request("PUT", `/agents/${acme.deviceId}/patches`, { token: acme.agentToken, body });
  };
  const pass = async (days: number) => {
    server.clock.advance(days * DAY);
    await dropUnused(server.services);
  };
  const shared = async () =>
    (await server.db.selectFrom("patches").select("identity").orderBy("identity").execute()).map(
      ({ identity }) => JSON.parse(identity)[1],
    );
  const onDevice = async () =>
    (await server.db.selectFrom("devicePatches").select("externalId").orderBy("externalId").execute()).map(
      ({ externalId }) => externalId,
    );

  it("go from the device after 180 days, and their shared row after 90 more; what is used again stays", async () => {
    await report(1, 2, 3);
    await report(1);
    await pass(179);
    expect(await onDevice()).toEqual(["L1", "L2", "L3"]);
    await pass(2);
    expect([await onDevice(), await shared()]).toEqual([["L1"], ["L1", "L2", "L3"]]);
    await pass(89);
    expect((await report(1, 2)).status).toBe(200);
    await pass(2);
    expect([await onDevice(), await shared()]).toEqual([
      ["L1", "L2"],
      ["L1", "L2"],
    ]);
    await report();
    await pass(181);
    await pass(89);
    await report(2);
    await pass(2);
    expect([await onDevice(), await shared()]).toEqual([["L2"], ["L2"]]);
  });
});
