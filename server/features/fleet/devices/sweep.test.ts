import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgetSourceIps } from "#server/features/fleet/agents/forget-source-ips";
import {
  endExpiredMaintenance,
  markSilentDevicesOffline,
  markSilentWatchdogsOffline,
} from "#server/features/fleet/devices/sweep";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

const MINUTE = 60_000;

describe.each(databases)("what time does to devices on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let siteId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
    siteId = await makeSite(server, orgId);
  });
  afterAll(() => server?.stop());

  const ago = (ms: number) => new Date(server.clock.nowMs() - ms).toISOString();
  const make = async (fields: object) => (await makeDevices(server, [{ orgId, siteId, ...fields }]))[0] as string;
  const row = (id: string) =>
    server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const states = async (id: string) =>
    (
      await server.db
        .selectFrom("deviceAvailability")
        .select("state")
        .where("deviceId", "=", id)
        .orderBy("at")
        .orderBy("id")
        .execute()
    ).map((entry) => entry.state);

  it("marks devices offline after five minutes without a sign of life, once, and no other state", async () => {
    const silent = await make({ status: "online", lastSeenAt: ago(5 * MINUTE + 1) });
    const updating = await make({ status: "updating", lastSeenAt: ago(6 * MINUTE) });
    const just = await make({ status: "online", lastSeenAt: ago(5 * MINUTE) });
    const held = await make({ status: "maintenance", lastSeenAt: ago(60 * MINUTE) });
    const shut = await make({ status: "quarantined", lastSeenAt: ago(60 * MINUTE) });
    expect(await markSilentDevicesOffline(server.services)).toBe(2);
    expect(await markSilentDevicesOffline(server.services)).toBe(0);
    for (const id of [silent, updating]) {
      expect((await row(id)).status).toBe("offline");
      expect(await states(id)).toEqual(["offline"]);
      const { hostname: deviceName, lastSeenAt } = await row(id);
      const about = { orgId, partnerId: null, siteId, subjectType: "device" };
      expect(await eventsOf(server.db, id)).toEqual([
        { ...about, kind: "device.offline", data: { deviceId: id, deviceName, lastSeenAt } },
      ]);
    }
    expect([(await row(just)).status, (await row(held)).status, (await row(shut)).status]).toEqual([
      "online",
      "maintenance",
      "quarantined",
    ]);
    for (const id of [just, held, shut]) {
      expect(await states(id)).toEqual([]);
      expect(await eventsOf(server.db, id)).toEqual([]);
    }
  });

  it("works through more devices than one batch, and two sweeps at once change each once", async () => {
    const ids = await makeDevices(
      server,
      Array.from({ length: 1_100 }, () => ({ orgId, siteId, lastSeenAt: ago(10 * MINUTE) })),
    );
    const [one, two] = await Promise.all([
      markSilentDevicesOffline(server.services),
      markSilentDevicesOffline(server.services),
    ]);
    expect(one + two).toBe(1_100);
    const rows = await server.db
      .selectFrom("deviceAvailability")
      .select("deviceId")
      .where("deviceId", "in", ids)
      .execute();
    expect(rows).toHaveLength(1_100);
    const told = await server.db.selectFrom("events").select("subjectId").where("subjectId", "in", ids).execute();
    expect(new Set(told.map(({ subjectId }) => subjectId)).size).toBe(1_100);
    expect(told).toHaveLength(1_100);
  });

  it("marks watchdogs offline that have not reported for five minutes", async () => {
    const silent = await make({ watchdogStatus: "connected", watchdogSeenAt: ago(5 * MINUTE + 1) });
    const alive = await make({ watchdogStatus: "failover", watchdogSeenAt: ago(MINUTE) });
    const none = await make({});
    expect(await markSilentWatchdogsOffline(server.services)).toBe(1);
    expect([
      (await row(silent)).watchdogStatus,
      (await row(alive)).watchdogStatus,
      (await row(none)).watchdogStatus,
    ]).toEqual(["offline", "failover", null]);
  });

  it("ends maintenance when its time is over, by the last sign of life, with an availability row only for a change", async () => {
    const past = ago(MINUTE);
    const alive = await make({ status: "maintenance", maintenanceUntil: past, lastSeenAt: ago(MINUTE) });
    const gone = await make({ status: "maintenance", maintenanceUntil: past, lastSeenAt: ago(60 * MINUTE) });
    const open = await make({ status: "maintenance", maintenanceUntil: null, lastSeenAt: ago(60 * MINUTE) });
    const later = await make({
      status: "maintenance",
      maintenanceUntil: new Date(server.clock.nowMs() + 1).toISOString(),
    });
    const at = ago(90 * MINUTE);
    const { random } = server.services;
    await server.db
      .insertInto("deviceAvailability")
      .values([alive, gone].map((deviceId) => ({ id: random.uuid(), orgId, deviceId, state: "online" as const, at })))
      .execute();
    expect(await endExpiredMaintenance(server.services)).toBe(2);
    expect(await row(alive)).toMatchObject({ status: "online", maintenanceUntil: null });
    expect(await row(gone)).toMatchObject({ status: "offline", maintenanceUntil: null });
    expect((await row(open)).status).toBe("maintenance");
    expect((await row(later)).status).toBe("maintenance");
    expect(await states(alive)).toEqual(["online"]);
    expect(await states(gone)).toEqual(["online", "offline"]);
    expect((await eventsOf(server.db, alive)).map(({ kind }) => kind)).toEqual([]);
    expect((await eventsOf(server.db, gone)).map(({ kind }) => kind)).toEqual(["device.offline"]);
  });

  it("forgets source addresses that may be audited again", async () => {
    const deviceId = await make({});
    await server.db
      .insertInto("deviceSourceIps")
      .values([
        { orgId, deviceId, ip: "203.0.113.1", auditedAt: ago(25 * 60 * MINUTE) },
        { orgId, deviceId, ip: "203.0.113.2", auditedAt: ago(MINUTE) },
      ])
      .execute();
    expect(await forgetSourceIps(server.services)).toBe(1);
  });
});
