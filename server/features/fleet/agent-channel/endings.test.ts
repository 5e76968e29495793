import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connected } from "../../../test/agent-socket.ts";
import { enroll, makeKey, makeSite, type TestKey } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

describe.each(databases)("an agent's connection ends on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let target: { orgId: string; siteId: string };
  let key: TestKey;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const made = await seedPartner(server, "acme", ["acme", "target"]);
    partnerId = made.partnerId;
    const [first, second] = made.orgIds as [string, string];
    orgId = first;
    target = { orgId: second, siteId: await makeSite(server, second) };
    key = await makeKey(server, { orgId });
  });
  afterAll(() => server?.stop());

  const asAdmin = async (method: string, path: string, body?: object) => {
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    const answer = await server.request(method, path, { token, ...(body ? { body } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const machine = async (hostname: string, of: TestKey = key) => {
    const { body } = await enroll(server, of, { hostname });
    const { deviceId: id, agentId, agentToken } = body as { deviceId: string; agentId: string; agentToken: string };
    return { id, agentId, agentToken, open: (token = agentToken) => connected(server.url, agentId, token) };
  };

  /** What was on its way when the end came may still say that the agent uninstalls itself. */
  const handedOut = (sockets: Awaited<ReturnType<typeof connected>>[]) =>
    sockets
      .flatMap((socket) => socket.waiting("command"))
      .filter(({ commandType }) => commandType !== "self_uninstall");

  it("with 4002 when the agent connects anew; the new one goes on", async () => {
    const pc = await machine("again");
    const [old, next] = [await pc.open(), await pc.open()];
    expect(await old.closed).toBe(4002);
    const { id } = await asAdmin("POST", `/devices/${pc.id}/commands`, { type: "lock" });
    expect((await next.next("command")).id).toBe(id);
    next.raw.close();
  });

  it("with 4001 in quarantine, 4041 out of service and 4040 in another organization", async () => {
    const [sick, old, moved] = [await machine("sick"), await machine("old"), await machine("moved")];
    const sockets = [await sick.open(), await old.open(), await moved.open()];
    await asAdmin("PATCH", `/devices/${sick.id}`, { quarantined: true, quarantinedReason: "odd" });
    await asAdmin("DELETE", `/devices/${old.id}?uninstall=true`);
    await asAdmin("POST", `/devices/${moved.id}/move-org`, target);
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4001, 4041, 4040]);
    expect(handedOut(sockets)).toEqual([]);
    (await moved.open()).raw.close();
  });

  it("with 4403 when its organization winds down, and 4001 when that is gone", async () => {
    const [first, second] = (await seedPartner(server, "leaving", ["leaving", "leaving-too"])).orgIds as [
      string,
      string,
    ];
    const { token } = await server.signIn({ role: "System Admin" });
    const pcs = [
      await machine("leaving", await makeKey(server, { orgId: first })),
      await machine("leaving", await makeKey(server, { orgId: second })),
    ];
    const sockets = await Promise.all(pcs.map((pc) => pc.open()));
    const change = { token, body: { status: "offboarding" } };
    expect((await server.request("PATCH", `/orgs/organizations/${first}`, change)).status).toBe(200);
    expect((await server.request("DELETE", `/orgs/organizations/${second}`, { token })).status).toBe(200);
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4403, 4001]);
    expect(handedOut(sockets)).toEqual([]);
  });

  it("with 4001 ten minutes after its token was replaced, and not before", async () => {
    const pc = await machine("rotates");
    const socket = await pc.open();
    await server.request("POST", `/agents/${pc.agentId}/rotate-token`, { token: pc.agentToken });
    server.clock.advance(10 * MINUTE - SECOND);
    socket.send({ type: "heartbeat" });
    await socket.next("heartbeat_ack");
    server.clock.advance(2 * SECOND);
    socket.send({ type: "heartbeat", hostname: "not any more" });
    expect(await socket.closed).toBe(4001);
    const row = server.db.selectFrom("devices").select("hostname").where("id", "=", pc.id);
    expect(await row.executeTakeFirst()).toEqual({ hostname: "rotates" });
  });

  it("within 35 seconds of what nobody has told it of, whatever its agent does", async () => {
    const pc = await machine("untold");
    const socket = await pc.open();
    await server.db.updateTable("partners").set({ status: "churned" }).where("id", "=", partnerId).execute();
    server.clock.advance(35 * SECOND);
    expect(await socket.closed).toBe(4001);
    await server.db.updateTable("partners").set({ status: "active" }).where("id", "=", partnerId).execute();
  });

  it("with 4029 after ten seconds over the limit of its device, which requests share", async () => {
    const pc = await machine("busy");
    const socket = await pc.open();
    const { services } = server;
    await services.limiter.take({ name: "agent", max: 120, windowSeconds: 60 }, pc.id, 119);
    socket.send({ type: "heartbeat", hostname: "over" });
    expect((await socket.next("error")).code).toBe("RATE_LIMITED");
    const beat = { token: pc.agentToken, body: { status: "ok" } };
    expect((await server.request("POST", `/agents/${pc.id}/heartbeat`, beat)).status).toBe(429);
    server.clock.advance(9 * SECOND);
    socket.send({ type: "heartbeat", hostname: "over" });
    await socket.next("error");
    server.clock.advance(SECOND);
    socket.send({ type: "heartbeat", hostname: "over" });
    expect(await socket.closed).toBe(4029);
    const row = server.db.selectFrom("devices").select("hostname").where("id", "=", pc.id);
    expect(await row.executeTakeFirst()).toEqual({ hostname: "busy" });
  });

  it("with 1001 when its server stops, and the server waits for no agent that does not answer", async () => {
    const own = await startTestServer(database);
    const made = await seedPartner(own, "acme", ["acme"]);
    const { body } = await enroll(own, await makeKey(own, { orgId: made.orgIds[0] as string }));
    const mute = await enroll(own, await makeKey(own, { orgId: made.orgIds[0] as string }), { hostname: "mute" });
    const socket = await connected(own.url, body.agentId, body.agentToken);
    const silent = await connected(own.url, mute.body.agentId, mute.body.agentToken);
    silent.raw.pause();
    const began = performance.now();
    await own.stop();
    expect(await socket.closed).toBe(1001);
    expect(performance.now() - began).toBeLessThan(5_000);
    silent.raw.terminate();
  });
});
