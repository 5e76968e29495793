import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asSystem } from "#server/db/as-system";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import { sumUpHours } from "#server/features/fleet/hourly-entries/sum-up";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, type TestKey } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

describe.each(databases)("agent reports on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let partnerId: string;
  let key: TestKey;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000", TRUST_PROXY_HEADERS: "true" });
    const made = await seedPartner(server, "acme", ["acme"]);
    partnerId = made.partnerId;
    orgId = made.orgIds[0] as string;
    key = await makeKey(server, { orgId });
  });
  afterAll(() => server?.stop());

  const device = async (hostname: string) => {
    const { body } = await enroll(server, key, { hostname });
    const id: string = body.deviceId;
    const beat = (fields: object = {}, options: { token?: string; as?: string; ip?: string } = {}) =>
      server.request("POST", `/agents/${options.as ?? body.agentId}/heartbeat`, {
        token: options.token ?? body.agentToken,
        body: { status: "ok", agentVersion: "2.0.0", ...fields },
        headers: options.ip === undefined ? {} : { "x-forwarded-for": options.ip },
      });
    return {
      ...(body as { agentId: string; agentToken: string; watchdogToken: string }),
      id,
      beat,
      watch: (fields: object = {}) => beat({ role: "watchdog", ...fields }, { token: body.watchdogToken }),
      rotate: (token: string = body.agentToken) =>
        server.request("POST", `/agents/${body.agentId}/rotate-token`, { token }),
      row: () => server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
      set: (change: object) => server.db.updateTable("devices").set(change).where("id", "=", id).execute(),
      states: async () =>
        (
          await server.db
            .selectFrom("deviceAvailability")
            .select("state")
            .where("deviceId", "=", id)
            .orderBy("at")
            .orderBy("id")
            .execute()
        ).map((row) => row.state),
      changes: () =>
        auditOf(server, (entry) => entry.action === "agent.heartbeat.state_change" && entry.resourceId === id),
      told: () => eventsOf(server.db, id),
      samples: () =>
        server.db.selectFrom("deviceMetrics").selectAll().where("deviceId", "=", id).orderBy("timestamp").execute(),
    };
  };

  it("answers with everything an agent of any version reads", async () => {
    const pc = await device("shape");
    expect(await pc.beat()).toMatchObject({
      status: 200,
      body: {
        commands: [],
        config: {
          heartbeatIntervalSeconds: 60,
          metricsIntervalSeconds: 60,
          policies: {
            pam: { uacInterceptionEnabled: false },
            event_log: { retentionDays: 30, minimumLevel: "info", collectionIntervalMinutes: 15 },
            monitoring: null,
            backup: null,
          },
        },
        serverTime: server.clock.now(),
        draining: false,
      },
    });
    expect((await pc.beat()).body).not.toHaveProperty("rotateToken");
    expect((await pc.beat({}, { as: pc.id })).status).toBe(200);
  });

  it("stores what is supplied, leaves the rest alone and never stumbles over malformed extras", async () => {
    const pc = await device("facts");
    await pc.beat({ lastUser: "ana", uptimeSeconds: 120, pendingReboot: true, deviceRole: "server", osBuild: "26100" });
    server.clock.advance(MINUTE);
    const odd = await pc.beat({
      lastUser: 7,
      uptimeSeconds: -1,
      pendingReboot: "yes",
      deviceRole: "toaster",
      hostname: "",
      osBuild: 26100,
      metrics: { cpuPercent: "hot" },
      watches: "none",
      watchdogState: "WHATEVER",
      unknown: { deep: [] },
    });
    expect(odd.status).toBe(200);
    expect(odd.body.ignoredFields).toEqual(
      expect.arrayContaining(["lastUser", "uptimeSeconds", "hostname", "metrics", "watches", "unknown"]),
    );
    expect(await pc.row()).toMatchObject({
      hostname: "facts",
      lastUser: "ana",
      uptimeSeconds: 120,
      pendingReboot: true,
      deviceRole: "server",
      osBuild: "26100",
      agentVersion: "2.0.0",
      lastSeenAt: server.clock.now(),
    });
    expect(await pc.samples()).toHaveLength(0);
    expect(
      (
        await server.request("POST", `/agents/${pc.agentId}/heartbeat`, {
          token: pc.agentToken,
          body: { status: "fine", agentVersion: 1 },
        })
      ).status,
    ).toBe(200);
  });

  it("keeps a role that was set by hand", async () => {
    const pc = await device("role");
    await pc.set({ deviceRole: "nas", deviceRoleSource: "manual" });
    await pc.beat({ deviceRole: "server" });
    expect((await pc.row()).deviceRole).toBe("nas");
  });

  it("keeps one sample for a moment, at a believable time, and drops malformed entries of its lists", async () => {
    const pc = await device("samples");
    const now = server.clock.now();
    const metrics = {
      timestamp: now.replace("Z", "+00:00"),
      cpuPercent: 10,
      ramPercent: 20,
      diskPercent: 30,
      processCount: 5,
      processes: [{ name: "ok", cpuPercent: 1, memoryMb: 2 }, { name: "", cpuPercent: 1, memoryMb: 2 }, 4],
    };
    await pc.beat({ metrics });
    await pc.beat({ metrics: { ...metrics, cpuPercent: 99 } });
    expect(await pc.samples()).toMatchObject([
      { timestamp: now, cpuPercent: 10, extra: { processCount: 5, processes: [{ name: "ok" }] } },
    ]);
    server.clock.advance(MINUTE);
    await pc.beat({ metrics: { ...metrics, timestamp: "2020-01-01T00:00:00Z" } });
    expect((await pc.samples()).map((sample) => sample.timestamp)).toEqual([now, server.clock.now()]);
  });

  it("brings a device back online, with one availability row, audit entry and event, and stays silent otherwise", async () => {
    const pc = await device("returns");
    await pc.beat();
    expect(await pc.states()).toEqual(["online"]);
    await pc.set({ status: "offline" });
    server.clock.advance(1_000);
    await pc.beat();
    await pc.beat();
    expect((await pc.row()).status).toBe("online");
    expect(await pc.states()).toEqual(["online", "online"]);
    expect(await pc.changes()).toMatchObject([
      { orgId, actorType: "agent", actorId: pc.id, details: { from: "offline", to: "online" } },
    ]);
    const { siteId } = await pc.row();
    const about = { orgId, siteId, partnerId: null, subjectType: "device" };
    const name = { deviceId: pc.id, deviceName: "returns" };
    expect(await pc.told()).toEqual([
      { ...about, kind: "device.enrolled", data: { ...name, again: false } },
      { ...about, kind: "device.online", data: { ...name, previousStatus: "offline" } },
    ]);
    await pc.set({ status: "updating" });
    await pc.beat();
    expect(await pc.told()).toHaveLength(2);
    expect((await pc.row()).status).toBe("online");
    expect(await pc.states()).toHaveLength(2);
  });

  it("leaves maintenance as it is and shuts quarantined and decommissioned devices out", async () => {
    const pc = await device("states");
    await pc.set({ status: "maintenance" });
    await pc.beat();
    expect((await pc.row()).status).toBe("maintenance");
    await pc.set({ status: "quarantined" });
    expect(await pc.beat()).toMatchObject({ status: 403, body: { code: "DEVICE_QUARANTINED" } });
    await pc.set({ status: "decommissioned" });
    expect(await pc.beat()).toMatchObject({ status: 403, body: { code: "DEVICE_DECOMMISSIONED" } });
    expect((await pc.row()).status).toBe("decommissioned");
  });

  it("answers a path that names another device like one that does not exist", async () => {
    const [pc, other] = [await device("mine"), await device("theirs")];
    for (const as of [other.agentId, other.id, "f".repeat(64), "me"]) {
      expect(await pc.beat({}, { as })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    for (const token of ["agt_bogus", `agt_${"0".repeat(64)}`]) {
      expect(await pc.beat({}, { token })).toMatchObject({ status: 401, body: { code: "INVALID_AGENT_CREDENTIALS" } });
    }
  });

  it("watches the watchdog: its state, and since when the main agent has been silent", async () => {
    const pc = await device("watched");
    const seen = (await pc.row()).lastSeenAt;
    await pc.watch({ watchdogState: "CONNECTED", watchdogVersion: "3.1" });
    expect(await pc.row()).toMatchObject({
      watchdogStatus: "connected",
      watchdogVersion: "3.1",
      lastSeenAt: seen,
      mainAgentSilentSince: null,
    });
    server.clock.advance(61 * MINUTE);
    const noticed = server.clock.now();
    await pc.watch({ watchdogState: "FAILOVER" });
    server.clock.advance(MINUTE);
    await pc.watch({ watchdogState: "FAILOVER" });
    expect(await pc.row()).toMatchObject({
      watchdogStatus: "failover",
      lastSeenAt: seen,
      mainAgentSilentSince: noticed,
    });
    await pc.set({ displayName: "Front desk" });
    await pc.beat();
    expect((await pc.row()).mainAgentSilentSince).toBeNull();
    expect(await pc.told()).toMatchObject([
      { kind: "device.enrolled" },
      { kind: "device.main_agent_silent", orgId, data: { deviceName: "watched", lastSeenAt: seen } },
    ]);
    const details = (await pc.changes()).map((entry) => entry.details);
    expect(details).toMatchObject([
      { watchdog: { from: null, to: "connected" } },
      { watchdog: { from: "connected", to: "failover" }, mainAgentSilentSince: { from: null, to: noticed } },
    ]);
  });

  it("records the first change of state of an hour at once, and the others as one entry with their number", async () => {
    const pc = await device("flaps");
    const flap = async (times: number) => {
      for (let time = 0; time < times; time += 1)
        await pc.watch({ watchdogState: time % 2 === 0 ? "FAILOVER" : "CONNECTED" });
    };
    const details = async () => (await pc.changes()).map((entry) => entry.details);
    await flap(6);
    expect(await details()).toMatchObject([{ watchdog: { from: null, to: "failover" } }]);
    server.clock.advance(61 * MINUTE);
    await sumUpHours(server.services);
    const { siteId } = await pc.row();
    const sums = { requests: 5, count: 5, filtered: 0, siteIds: [siteId] };
    expect(await details()).toMatchObject([{}, sums]);
    expect((await pc.changes())[1]).toMatchObject({ actorType: "agent", actorId: pc.id, orgId, resourceId: pc.id });
    // A change that comes before the clock does ends the hour itself.
    await flap(3);
    server.clock.advance(61 * MINUTE);
    await pc.watch({ watchdogState: "CONNECTED" });
    expect((await details()).slice(2)).toMatchObject([
      { watchdog: { from: "connected", to: "failover" } },
      { requests: 2, count: 2 },
      { watchdog: { from: "failover", to: "connected" } },
    ]);
  });

  it("does not let the watchdog's credential speak for the main agent or rotate tokens", async () => {
    const pc = await device("impostor");
    const seen = (await pc.row()).lastSeenAt;
    server.clock.advance(MINUTE);
    await pc.beat({ role: "agent", hostname: "stolen" }, { token: pc.watchdogToken });
    expect(await pc.row()).toMatchObject({ lastSeenAt: seen, hostname: "impostor", watchdogStatus: "connected" });
    expect(await pc.rotate(pc.watchdogToken)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  it("audits another source address once per device and address in a day", async () => {
    const pc = await device("mover");
    const moves = async () =>
      (await auditOf(server, (entry) => entry.action === "agent.source.ip.changed" && entry.resourceId === pc.id)).map(
        (entry) => [entry.details["from"], entry.details["to"]],
      );
    await pc.beat({}, { ip: "203.0.113.5" });
    await pc.beat({}, { ip: "203.0.113.6" });
    await pc.beat({}, { ip: "203.0.113.5" });
    expect(await moves()).toEqual([
      ["127.0.0.1", "203.0.113.5"],
      ["203.0.113.5", "203.0.113.6"],
    ]);
    expect((await pc.row()).lastSeenIp).toBe("203.0.113.5");
    server.clock.advance(DAY);
    await pc.beat({}, { ip: "203.0.113.6" });
    expect(await moves()).toHaveLength(3);
  });

  it("audits the address of whoever uses its token elsewhere, whatever for", async () => {
    const pc = await device("stolen");
    const used = async (method: "GET" | "POST" | "PUT", path: string, ip: string, body?: object) => {
      const headers = { "x-forwarded-for": ip };
      const sent = { token: pc.agentToken, headers, ...(body === undefined ? {} : { body }) };
      return (await server.request(method, `/agents/${pc.id}/${path}`, sent)).status;
    };
    const sample = { timestamp: server.clock.now(), cpuPercent: 1, ramPercent: 1, diskPercent: 1 };
    const own = { id: pc.id, orgId, hostname: "stolen", watchdogStatus: null };
    const commandId = await asSystem(server.services, "work commands")
      .transaction()
      .execute((tx) => insertCommand(tx, server.services, { device: own, type: "lock", payload: {} }));
    const statuses = [
      await used("GET", "commands", "203.0.113.10"),
      await used("POST", `commands/${commandId}/result`, "203.0.113.11", { status: "completed" }),
      await used("POST", "metrics", "203.0.113.12", { samples: [sample] }),
      await used("PUT", "inventory", "203.0.113.13", { hardware: { serialNumber: "S" } }),
      await used("PUT", "software", "203.0.113.14", { software: [{ name: "Editor" }] }),
      await used("PUT", "patches", "203.0.113.15", { pending: [] }),
      await used("PUT", "security", "203.0.113.16", { threats: [] }),
      await used("POST", "rotate-token", "203.0.113.17"),
    ];
    expect(statuses).toEqual([200, 200, 201, 200, 200, 200, 200, 200]);
    const moves = await auditOf(
      server,
      (entry) => entry.action === "agent.source.ip.changed" && entry.resourceId === pc.id,
    );
    expect(moves.map(({ details }) => details["to"])).toEqual(
      Array.from({ length: 8 }, (_, at) => `203.0.113.${10 + at}`),
    );
    expect((await pc.row()).lastSeenIp).toBe("127.0.0.1");
  });

  it("asks for a rotation after thirty days, and accepts both generations for ten minutes", async () => {
    const pc = await device("rotating");
    server.clock.advance(30 * DAY);
    expect((await pc.beat()).body.rotateToken).toBe(true);
    expect((await pc.watch()).body).not.toHaveProperty("rotateToken");
    const fresh = (await pc.rotate()).body;
    expect(fresh).toEqual({
      agentToken: expect.stringMatching(/^agt_[0-9a-f]{64}$/),
      watchdogToken: expect.stringMatching(/^agt_[0-9a-f]{64}$/),
    });
    server.clock.advance(10 * MINUTE - 1_000);
    for (const token of [pc.agentToken, fresh.agentToken]) expect((await pc.beat({}, { token })).status).toBe(200);
    for (const token of [pc.watchdogToken, fresh.watchdogToken])
      expect((await pc.beat({ role: "watchdog" }, { token })).status).toBe(200);
    expect((await pc.beat({}, { token: fresh.agentToken })).body).not.toHaveProperty("rotateToken");
    server.clock.advance(2_000);
    for (const token of [pc.agentToken, pc.watchdogToken])
      expect((await pc.beat({}, { token })).body.code).toBe("INVALID_AGENT_CREDENTIALS");
    expect((await pc.beat({}, { token: fresh.agentToken })).status).toBe(200);
    const entries = await auditOf(
      server,
      (entry) => entry.action === "agent.token.rotate" && entry.resourceId === pc.id,
    );
    expect(entries).toMatchObject([
      { result: "success", orgId },
      { result: "denied", details: { reason: "replaced_token" } },
    ]);
  });

  it("lets a device that lost the answer rotate again with its old token, within the old token's time", async () => {
    const pc = await device("lost-answer");
    const lost = (await pc.rotate()).body;
    server.clock.advance(9 * MINUTE);
    const kept = (await pc.rotate()).body;
    expect((await pc.beat({}, { token: lost.agentToken })).body.code).toBe("INVALID_AGENT_CREDENTIALS");
    expect((await pc.beat({}, { token: kept.agentToken })).status).toBe(200);
    server.clock.advance(2 * MINUTE);
    expect((await pc.beat()).body.code).toBe("INVALID_AGENT_CREDENTIALS");
  });

  it("gives simultaneous rotations one lasting pair at most each, never an error of the server", async () => {
    const pc = await device("double");
    const answers = await Promise.all([1, 2, 3, 4].map(() => pc.rotate()));
    for (const answer of answers) expect([200, 409]).toContain(answer.status);
    const working = [];
    for (const answer of answers.filter((item) => item.status === 200)) {
      if ((await pc.beat({}, { token: answer.body.agentToken })).status === 200) working.push(answer);
    }
    expect(working).toHaveLength(1);
  });

  it("rotates six times an hour; what fails costs nothing, and the tokens go on", async () => {
    const pc = await device("often");
    let { agentToken } = pc;
    const rotate = async () => {
      const answer = await pc.rotate(agentToken);
      if (answer.status === 200) agentToken = answer.body.agentToken;
      return answer;
    };
    await pc.set({ status: "quarantined" });
    expect((await rotate()).body.code).toBe("DEVICE_QUARANTINED");
    await pc.set({ status: "online" });
    for (let n = 0; n < 6; n += 1) expect((await rotate()).status).toBe(200);
    const { tokensIssuedAt } = await pc.row();
    server.clock.advance(MINUTE);
    const refused = await rotate();
    expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(3_400);
    expect((await pc.row()).tokensIssuedAt).toBe(tokensIssuedAt);
    expect((await pc.beat({}, { token: agentToken })).status).toBe(200);
    server.clock.advance(seconds * 1_000);
    expect((await rotate()).status).toBe(200);
  });

  it("answers four requests of a device at once, and a fifth when one has ended", async () => {
    const pc = await device("greedy");
    const poll = () => server.request("GET", `/agents/${pc.agentId}/commands?wait=2`, { token: pc.agentToken });
    const polls = [1, 2, 3, 4, 5].map(poll);
    const told = { status: 429, body: { code: "RATE_LIMITED", details: { limit: "agent-open", max: 4 } } };
    expect(await Promise.race(polls)).toMatchObject(told);
    const refused = await pc.beat({ hostname: "refused" });
    expect(refused).toMatchObject(told);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await pc.row()).hostname).toBe("greedy");
    const neighbour = await device("modest");
    expect((await neighbour.beat()).status).toBe(200);
    expect((await Promise.all(polls)).filter(({ status }) => status === 200)).toHaveLength(4);
    expect((await pc.beat()).status).toBe(200);
  });

  it("narrows devices of an organization that is wound down, and cuts archived ones off", async () => {
    const leaving = (await seedPartner(server, "leaving", ["leaving"])).orgIds[0] as string;
    const { body } = await enroll(server, await makeKey(server, { orgId: leaving }), { hostname: "last-one" });
    const org = (status: "offboarding" | "merging" | "archived") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", leaving).execute();
    const beat = () =>
      server.request("POST", `/agents/${body.agentId}/heartbeat`, {
        token: body.agentToken,
        body: {
          status: "ok",
          agentVersion: "9",
          hostname: "new-name",
          metrics: { cpuPercent: 1, ramPercent: 1, diskPercent: 1 },
        },
      });
    const rotate = () => server.request("POST", `/agents/${body.agentId}/rotate-token`, { token: body.agentToken });
    await org("offboarding");
    server.clock.advance(MINUTE);
    expect((await beat()).body).toMatchObject({ draining: true, commands: [] });
    const row = await server.db
      .selectFrom("devices")
      .selectAll()
      .where("id", "=", body.deviceId)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ lastSeenAt: server.clock.now(), hostname: "last-one", agentVersion: "1.0.0" });
    expect(
      await server.db.selectFrom("deviceMetrics").selectAll().where("deviceId", "=", body.deviceId).execute(),
    ).toEqual([]);
    expect(await rotate()).toMatchObject({ status: 403, body: { code: "TENANT_OFFBOARDING" } });
    await org("merging");
    expect((await beat()).body).toMatchObject({ draining: false });
    await org("archived");
    expect((await beat()).body.code).toBe("INVALID_AGENT_CREDENTIALS");
    expect((await rotate()).body.code).toBe("INVALID_AGENT_CREDENTIALS");
  });

  it("cuts off the agents of a churned partner", async () => {
    const pc = await device("partner-gone");
    await server.db.updateTable("partners").set({ status: "churned" }).where("id", "=", partnerId).execute();
    expect((await pc.beat()).body.code).toBe("INVALID_AGENT_CREDENTIALS");
    await server.db.updateTable("partners").set({ status: "active" }).where("id", "=", partnerId).execute();
  });

  it("never loses a status that changes while devices report", async () => {
    const pc = await device("contended");
    await Promise.all([
      ...Array.from({ length: 4 }, () => pc.beat()),
      ...Array.from({ length: 5 }, () => pc.set({ status: "offline" })),
    ]);
    await pc.set({ status: "maintenance" });
    await pc.beat();
    expect((await pc.row()).status).toBe("maintenance");
  });
});
