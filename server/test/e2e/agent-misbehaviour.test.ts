import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Misbehaviour } from "#fixtures/simulators/agent/misbehaviour";
import { endOverdueCommands } from "#server/features/fleet/device-commands/sweep";
import { markSilentDevicesOffline } from "#server/features/fleet/devices/sweep";
import { DAY, HOUR, MINUTE } from "#server/platform/clock";
import { auditEntries } from "../audit-entries.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { runFleet } from "./simulated-fleet.ts";

/** A minute of the server and its devices is a quarter of a second here. */
const PACE = 240;
/** Where commands are to be answered in the time that they have, on a machine that does other work too. */
const UNHURRIED_PACE = 20;

const ways = databases.flatMap((database) =>
  (["poll", "socket"] as const).map((transport) => ({ database, transport })),
);

describe.each(ways)("simulated devices that go wrong, on $database over $transport", ({ database, transport }) => {
  let server: TestServer;
  let orgId: string;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
  });
  afterAll(() => server?.stop());

  type Run = Omit<Parameters<typeof runFleet>[1], "orgId">;
  const misbehaving = (kind: Misbehaviour, { options, ...run }: Run) =>
    runFleet(server, {
      ...{ orgId, pace: PACE, ...run },
      options: { transport, seed: `${kind} ${transport}`, intervalMs: MINUTE, misbehave: { [kind]: 1 }, ...options },
    });
  const statesOf = async (deviceIds: readonly string[]) => {
    const rows = server.db.selectFrom("deviceAvailability").select(["deviceId", "state"]);
    return (await rows.where("deviceId", "in", deviceIds).orderBy("at").orderBy("id").execute()).map(
      ({ state }) => state,
    );
  };

  it("silent ones are found offline, come back, and bring what they measured meanwhile", async () => {
    const { deviceIds } = await misbehaving("silent", {
      given: [[]],
      async until(_, ids) {
        await markSilentDevicesOffline(server.services);
        const states = await statesOf(ids);
        return states.length >= 3;
      },
    });
    expect((await statesOf(deviceIds)).slice(0, 3)).toEqual(["online", "offline", "online"]);
    const samples = server.db.selectFrom("deviceMetrics").select("timestamp").where("deviceId", "in", deviceIds);
    const times = (await samples.orderBy("timestamp").execute()).map(({ timestamp }) => Date.parse(timestamp));
    const gaps = times.slice(1).map((time, at) => time - (times[at] as number));
    expect(Math.max(...gaps)).toBeLessThan(5 * MINUTE);
  });

  it("slow ones have the time that a command has", async () => {
    const { commands, summary } = await misbehaving("slow", {
      pace: UNHURRIED_PACE,
      given: [["lock", "collect_logs", "refresh_inventory"], ["lock"]],
      async until({ answered }) {
        await endOverdueCommands(server.services);
        return answered === 4;
      },
    });
    expect(commands.map(({ status }) => status)).toEqual(["completed", "completed", "completed", "completed"]);
    const durations = commands.map(({ outcome }) => (outcome as { durationMs: number }).durationMs);
    expect(Math.max(...durations)).toBeGreaterThan(1_000);
    expect(summary).toMatchObject({ claimedTwice: 0, ignored: 0 });
  });

  it("of late ones the end is what the server made of it, and their first answer is kept", async () => {
    const { commands, summary } = await misbehaving("late", {
      given: [["lock"]],
      async until({ ignored }) {
        await endOverdueCommands(server.services);
        return ignored === 1;
      },
    });
    expect(summary).toMatchObject({ claimed: 1, claimedTwice: 0, answered: 0, ignored: 1, refused: 0 });
    expect(commands).toMatchObject([
      { status: "timeout", outcome: { timedOutBy: "server", reason: "expired", late: { status: "completed" } } },
    ]);
  });

  it("of mute ones a command ends by the clock, and is not sent again", async () => {
    const { commands, summary } = await misbehaving("mute", {
      given: [["lock"]],
      async until({ heartbeats }, ids) {
        await endOverdueCommands(server.services);
        const ended = server.db.selectFrom("deviceCommands").select("id").where("status", "=", "timeout");
        return heartbeats > 2 && (await ended.where("deviceId", "in", ids).execute()).length === 1;
      },
    });
    expect(summary).toMatchObject({ claimed: 1, claimedTwice: 0, answered: 0, ignored: 0 });
    expect(commands).toMatchObject([{ status: "timeout", outcome: { timedOutBy: "server" } }]);
    expect(JSON.stringify(commands[0]?.outcome)).not.toContain("late");
  });

  it("with a wrong clock are seen at the server's time, and measure nothing that is to come", async () => {
    const began = server.clock.now();
    const { deviceIds, commands } = await misbehaving("clock", {
      pace: UNHURRIED_PACE,
      options: { intervalMs: 5_000 },
      given: [["lock"], ["lock"], ["lock"], ["lock"]],
      until: ({ answered, heartbeats }) => answered === 4 && heartbeats >= 12,
    });
    const now = server.clock.nowMs();
    const rows = server.db.selectFrom("devices").select(["status", "lastSeenAt"]).where("id", "in", deviceIds);
    for (const { status, lastSeenAt } of await rows.execute()) {
      expect(status).toBe("online");
      expect(lastSeenAt?.localeCompare(began)).toBe(1);
      expect(Date.parse(lastSeenAt as string)).toBeLessThanOrEqual(now);
    }
    const samples = await server.db
      .selectFrom("deviceMetrics")
      .select(["deviceId", "timestamp"])
      .where("deviceId", "in", deviceIds)
      .execute();
    expect(new Set(samples.map(({ deviceId }) => deviceId)).size).toBe(deviceIds.length);
    const ages = samples.map(({ timestamp }) => now - Date.parse(timestamp));
    expect(Math.min(...ages)).toBeGreaterThan(-5 * MINUTE);
    expect(Math.max(...ages)).toBeLessThan(DAY + HOUR);
    expect(commands.map(({ status }) => status)).toEqual(commands.map(() => "completed"));
  });

  it("cloned ones stay one device, and are told of ten times", async () => {
    const { deviceIds, summary } = await misbehaving("cloned", {
      given: [[]],
      options: { intervalMs: 10_000 },
      until: ({ heartbeats }) => heartbeats >= 20,
    });
    const changes = (await auditEntries(server, "agent.heartbeat.state_change")).filter(
      ({ resourceId }) => resourceId === deviceIds[0],
    );
    expect(changes.map(({ details }) => details["flapping"] ?? false)).toEqual([...Array(9).fill(false), true]);
    for (const { details } of changes)
      expect(Object.keys(details)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^hostname$|^serialNumber$/)]),
      );
    expect(summary).toMatchObject({ devices: 1, refused: 0 });
    const devices = server.db.selectFrom("devices").select("id").where("id", "in", deviceIds);
    expect(await devices.execute()).toHaveLength(1);
  });
});
