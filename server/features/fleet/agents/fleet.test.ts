import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentReports } from "#contract/resources/fleet/agent-reports";
import { enrollFleet } from "#fixtures/simulators/agent/fleet";
import { machineAt } from "#fixtures/simulators/agent/machines";
import { securityOf } from "#fixtures/simulators/agent/security";
import { makeKey } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { leftOut } from "./ignored-fields.ts";

/** Days of a hundred machines, whose reports the contract takes as they are. */
it("simulated machines drift in what protects them, and seldom have a threat, which ends", () => {
  const days = Array.from({ length: 60 }, (_, day) => Date.UTC(2026, 0, 1 + day, 9));
  const schema = agentReports.security.schemas().body;
  let [changes, ill] = [0, 0];
  for (let index = 0; index < 100; index += 1) {
    const machine = machineAt("office", index);
    const reports = days.map((day) => securityOf(machine, day));
    for (const report of reports) expect([...leftOut(report, schema?.parse(report))]).toEqual([]);
    changes += new Set(
      reports.map(({ realTimeProtection, firewallEnabled }) => `${realTimeProtection} ${firewallEnabled}`),
    ).size;
    const states = reports.flatMap(({ threats = [] }) => threats.map(({ status }) => status));
    if (states.length > 0) ill += 1;
    expect(securityOf(machine, days[0] as number)).toEqual(reports[0]);
  }
  expect(changes).toBeGreaterThan(120);
  expect(ill).toBeGreaterThan(5);
  expect(ill).toBeLessThan(50);
});

describe.each(databases)("a simulated fleet on %s", (database) => {
  let server: TestServer;
  let orgId: string;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "1000" });
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
  });
  afterAll(() => server?.stop());

  const fleetOf = async (count: number, seed: string, maxUsage: number | null = null) =>
    enrollFleet({
      baseUrl: server.url,
      enrollmentKey: (await makeKey(server, { orgId, maxUsage })).raw,
      count,
      seed,
      now: () => server.clock.nowMs(),
    });

  it("enrolls machines that are the same for the same seed, and reports for all of them", async () => {
    const fleet = await fleetOf(24, "office");
    expect(fleet.refused).toEqual([]);
    expect(await fleet.heartbeatAll()).toBe(0);
    const twin = await fleetOf(24, "office");
    expect(twin.agents.map((agent) => agent.machine)).toEqual(fleet.agents.map((agent) => agent.machine));
    expect(new Set(fleet.agents.map((agent) => agent.machine.osType)).size).toBeGreaterThan(1);
    const samples = await server.db
      .selectFrom("deviceMetrics")
      .selectAll()
      .where(
        "deviceId",
        "in",
        fleet.agents.map((agent) => agent.identity.deviceId),
      )
      .execute();
    expect(samples).toHaveLength(24);
    for (const sample of samples) {
      for (const value of [sample.cpuPercent, sample.ramPercent, sample.diskPercent]) {
        expect(value).toBeGreaterThan(0);
        expect(value).toBeLessThan(100);
      }
    }
  });

  it("lists what the server refused instead of failing", async () => {
    const fleet = await fleetOf(6, "too-many", 4);
    expect(fleet.agents).toHaveLength(4);
    expect(fleet.refused.map((item) => item.error.code)).toEqual([
      "ENROLLMENT_KEY_EXHAUSTED",
      "ENROLLMENT_KEY_EXHAUSTED",
    ]);
  });

  it("rotates its tokens when the server asks for it", async () => {
    const fleet = await fleetOf(1, "old");
    const agent = fleet.agents[0]!;
    const before = agent.identity.agentToken;
    server.clock.advance(31 * 86_400_000);
    await fleet.heartbeatAll();
    expect(agent.identity.agentToken).not.toBe(before);
    await expect(agent.heartbeat()).resolves.toMatchObject({ commands: [] });
    await expect(agent.watchdogHeartbeat("FAILOVER")).resolves.toMatchObject({ draining: false });
  });
});
