import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, connected } from "../../../test/agent-socket.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, type TestKey } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { tellDevice } from "../device-commands/signals.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

describe.each(databases)("an agent's connection on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let key: TestKey;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const made = await seedPartner(server, "acme", ["acme"]);
    orgId = made.orgIds[0] as string;
    key = await makeKey(server, { orgId });
    admin = await server.signIn({ role: "Partner Admin", partnerId: made.partnerId });
  });
  afterAll(() => server?.stop());

  const machine = async (hostname: string) => {
    const { body } = await enroll(server, key, { hostname });
    const {
      deviceId: id,
      agentId,
      agentToken,
      watchdogToken,
    } = body as Record<string, string> as {
      deviceId: string;
      agentId: string;
      agentToken: string;
      watchdogToken: string;
    };
    return {
      id,
      agentId,
      agentToken,
      watchdogToken,
      open: () => connected(server.url, agentId, agentToken),
      ask: (token?: string, more: { id?: string; headers?: Record<string, string>; search?: string } = {}) =>
        connect(server.url, more.id ?? agentId, { token, ...more }),
      queue: async (type: string, payload: object = {}) => {
        const options = { token: admin.token, body: { type, payload } };
        const answer = await server.request("POST", `/devices/${id}/commands`, options);
        expect(answer.status, JSON.stringify(answer.body)).toBe(201);
        return answer.body.id as string;
      },
      command: (commandId: string) =>
        server.db.selectFrom("deviceCommands").selectAll().where("id", "=", commandId).executeTakeFirstOrThrow(),
      row: () => server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
      set: (change: object) => server.db.updateTable("devices").set(change).where("id", "=", id).execute(),
    };
  };

  it("says who is connected and when it is, and makes the device online", async () => {
    const pc = await machine("hello");
    await pc.set({ status: "offline", lastSeenAt: null });
    const { socket } = await pc.ask(pc.agentToken);
    expect(await socket?.next("connected")).toEqual({
      type: "connected",
      agentId: pc.agentId,
      serverTime: server.clock.now(),
    });
    expect(await pc.row()).toMatchObject({ status: "online", lastSeenAt: server.clock.now() });
    expect((await eventsOf(server.db, pc.id)).map(({ kind }) => kind)).toContain("device.online");
    socket?.raw.close();
  });

  it("goes on reading when something else changes while it works on a frame", async () => {
    const pc = await machine("busy");
    const socket = await pc.open();
    for (let n = 0; n < 20; n += 1) {
      socket.send({ type: "heartbeat", status: "ok" });
      for (let told = 0; told < 12; told += 1) {
        tellDevice(server.services, pc.id);
        await new Promise((resolve) => (told < 8 ? setImmediate(resolve) : setTimeout(resolve, 1)));
      }
      await socket.next("heartbeat_ack");
    }
    socket.raw.close();
  });

  it("is refused as a request is, and nothing of the device changes", async () => {
    const [pc, other] = [await machine("refused"), await machine("other")];
    const refusals = async () => {
      const unknown = `agt_${"0".repeat(64)}`;
      return {
        none: await pc.ask(),
        unknown: await pc.ask(unknown),
        "in the query alone": await pc.ask(undefined, { search: `?token=${pc.agentToken}` }),
        user: await pc.ask(admin.token),
        watchdog: await pc.ask(pc.watchdogToken),
        "another device's path": await pc.ask(pc.agentToken, { id: other.agentId }),
        "another device's token": await pc.ask(other.agentToken),
        query: await pc.ask(pc.agentToken, { search: "?a=b" }),
      };
    };
    const before = [await pc.row(), await other.row()];
    server.clock.advance(SECOND);
    const told = Object.entries(await refusals()).map(([name, { refused }]) => [
      name,
      refused?.status,
      refused?.body.code,
    ]);
    expect(told).toEqual([
      ["none", 401, "INVALID_AGENT_CREDENTIALS"],
      ["unknown", 401, "INVALID_AGENT_CREDENTIALS"],
      ["in the query alone", 401, "INVALID_AGENT_CREDENTIALS"],
      ["user", 401, "INVALID_AGENT_CREDENTIALS"],
      ["watchdog", 403, "FORBIDDEN"],
      ["another device's path", 404, "NOT_FOUND"],
      ["another device's token", 404, "NOT_FOUND"],
      ["query", 400, "VALIDATION_ERROR"],
    ]);
    expect([await pc.row(), await other.row()]).toEqual(before);
  });

  it("is refused to a device, and a tenant, that may not have one, and nothing of the device changes", async () => {
    const org = (change: object) =>
      server.db.updateTable("organizations").set(change).where("id", "=", orgId).execute();
    const pc = await machine("unwelcome");
    const told: unknown[] = [];
    const attempt = async () => {
      const before = await pc.row();
      server.clock.advance(SECOND);
      const { refused } = await pc.ask(pc.agentToken);
      expect(await pc.row()).toEqual(before);
      told.push([refused?.status, refused?.body.code]);
    };
    for (const status of ["quarantined", "decommissioned"] as const) {
      await pc.set({ status });
      await attempt();
    }
    await pc.set({ status: "online" });
    for (const status of ["offboarding", "merging", "archived"] as const) {
      await org({ status });
      await attempt();
    }
    await org({ status: "active" });
    expect(told).toEqual([
      [403, "DEVICE_QUARANTINED"],
      [403, "DEVICE_DECOMMISSIONED"],
      [403, "TENANT_OFFBOARDING"],
      [503, "SERVICE_UNAVAILABLE"],
      [401, "INVALID_AGENT_CREDENTIALS"],
    ]);
    // Suspended: it goes on reporting, as over HTTP.
    await org({ status: "suspended" });
    (await pc.open()).raw.close();
    await org({ status: "active" });
  });

  it("brings what waits, then what is queued, each once, and takes the results", async () => {
    const pc = await machine("work");
    const waiting = [await pc.queue("lock"), await pc.queue("reboot", { reason: "patches" })];
    const socket = await pc.open();
    const first = [await socket.next("command"), await socket.next("command")];
    expect(first).toEqual([
      { type: "command", id: waiting[0], commandType: "lock", payload: {} },
      { type: "command", id: waiting[1], commandType: "reboot", payload: { reason: "patches" } },
    ]);
    const later = await pc.queue("shutdown");
    expect(await socket.next("command")).toMatchObject({ id: later, commandType: "shutdown" });
    expect(await pc.command(later)).toMatchObject({ status: "sent", sentAt: server.clock.now() });
    expect((await server.request("GET", `/agents/${pc.id}/commands`, { token: pc.agentToken })).body.commands).toEqual(
      [],
    );
    socket.send({ type: "command_progress", commandId: later, progress: 50 });
    const result = {
      type: "command_result",
      commandId: later,
      status: "completed",
      exitCode: 0,
      stdout: "{}",
      durationMs: "x",
    };
    socket.send(result);
    expect(await socket.next("ack")).toEqual({ type: "ack", commandId: later, ignoredFields: ["durationMs"] });
    expect(await pc.command(later)).toMatchObject({ status: "completed", outcome: { exitCode: 0 } });
    socket.send(result);
    expect(await socket.next("ack")).toMatchObject({ commandId: later, ignored: true });
    const entries = await auditOf(server, (entry) => entry.details["commandId"] === later);
    expect(entries.map(({ action, actorType }) => [action, actorType])).toEqual([
      ["device.command.queue", "user"],
      ["agent.command.result.submit", "agent"],
    ]);
    socket.raw.close();
  });

  it("takes no result for another device's command, and stays open after frames that are wrong", async () => {
    const [pc, other] = [await machine("wrong"), await machine("victim")];
    const foreign = await other.queue("lock");
    await server.request("GET", `/agents/${other.id}/commands`, { token: other.agentToken });
    const socket = await pc.open();
    const wrong: (object | string)[] = [
      { type: "command_result", commandId: foreign, status: "completed" },
      { type: "command_result", commandId: foreign, status: "maybe" },
      { type: "command_result", commandId: "x", status: "completed" },
      { type: "terminal_output", sessionId: "x", data: "" },
      { type: "connected" },
      [1],
      "{",
      "null",
    ];
    const codes: unknown[] = [];
    for (const frame of wrong) {
      socket.send(frame);
      const { code, commandId } = await socket.next("error");
      codes.push([code, commandId]);
    }
    socket.raw.send(Buffer.from("{}"), { binary: true });
    codes.push([(await socket.next("error")).code, undefined]);
    expect(codes).toEqual([
      ["NOT_FOUND", foreign],
      ["VALIDATION_ERROR", foreign],
      ["VALIDATION_ERROR", undefined],
      ["VALIDATION_ERROR", undefined],
      ["VALIDATION_ERROR", undefined],
      ["VALIDATION_ERROR", undefined],
      ["INVALID_JSON", undefined],
      ["VALIDATION_ERROR", undefined],
      ["INVALID_JSON", undefined],
    ]);
    expect(await other.command(foreign)).toMatchObject({ status: "sent", outcome: null });
    socket.send({ type: "heartbeat" });
    await socket.next("heartbeat_ack");
    socket.raw.close();
  });

  it("takes heartbeats as HTTP does, and commands come by themselves", async () => {
    const pc = await machine("beats");
    const socket = await pc.open();
    server.clock.advance(MINUTE);
    socket.send({
      type: "heartbeat",
      status: "ok",
      agentVersion: "3.1.0",
      uptimeSeconds: -1,
      metrics: { cpuPercent: 1, ramPercent: 2, diskPercent: 3 },
    });
    const { type: _, ...ack } = await socket.next("heartbeat_ack");
    expect(ack).toMatchObject({
      config: { heartbeatIntervalSeconds: 60, policies: { pam: { uacInterceptionEnabled: false } } },
      draining: false,
      ignoredFields: ["uptimeSeconds"],
    });
    expect(ack).not.toHaveProperty("commands");
    expect(await pc.row()).toMatchObject({ agentVersion: "3.1.0", lastSeenAt: server.clock.now() });
    const samples = await server.db.selectFrom("deviceMetrics").selectAll().where("deviceId", "=", pc.id).execute();
    expect(samples).toMatchObject([{ cpuPercent: 1, timestamp: server.clock.now() }]);
    await pc.set({ tokensIssuedAt: "2020-01-01T00:00:00.000Z" });
    socket.send({ type: "heartbeat" });
    expect((await socket.next("heartbeat_ack")).rotateToken).toBe(true);
    socket.raw.close();
  });

  it("pings every 30 seconds; an answer is a sign of life, and silence for 40 more ends it with 4008", async () => {
    const pc = await machine("pings");
    const socket = await pc.open();
    await pc.set({ status: "offline" });
    server.clock.advance(30 * SECOND);
    const { t } = await socket.next("ping");
    expect(t).toBe(server.clock.nowMs());
    socket.send({ type: "pong", t });
    await expect.poll(async () => (await pc.row()).status).toBe("online");
    expect((await pc.row()).lastSeenAt).toBe(server.clock.now());
    server.clock.advance(30 * SECOND);
    await socket.next("ping");
    server.clock.advance(40 * SECOND + 1);
    expect(await socket.closed).toBe(4008);
  });
});
