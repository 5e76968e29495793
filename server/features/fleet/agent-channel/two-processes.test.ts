import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asSystem } from "#server/db/as-system";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import { type RunningServer, startServer } from "#server/main";
import { silentLog } from "#server/platform/log";
import { type AgentSocket, connected } from "../../../test/agent-socket.ts";
import { enroll, makeKey, makeSite, type TestKey } from "../../../test/enroll.ts";
import { seedPartner, send, startTestServer, type TestServer } from "../../../test/harness.ts";

const SECOND = 1_000;

describe("a connection to one process, and a change at another of the same database", () => {
  let here: TestServer;
  let there: RunningServer;
  let partnerId: string;
  let orgId: string;
  let target: { orgId: string; siteId: string };
  let key: TestKey;

  beforeAll(async () => {
    here = await startTestServer("postgres", { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const { clock, services } = here;
    there = await startServer({ config: { ...services.config, port: 0 }, clock, log: silentLog, background: false });
    const made = await seedPartner(here, "acme", ["acme", "target"]);
    partnerId = made.partnerId;
    const [first, second] = made.orgIds as [string, string];
    orgId = first;
    target = { orgId: second, siteId: await makeSite(here, second) };
    key = await makeKey(here, { orgId });
    await Promise.all([heard(here, there), heard(there, here)]);
  });
  afterAll(async () => {
    await there?.stop();
    await here?.stop();
  });

  /** Resolves once what one process signals reaches the other. */
  const heard = async (from: RunningServer, to: RunningServer) => {
    let wakes = 0;
    const off = to.services.store.signals.on("probe", () => {
      wakes += 1;
    });
    for (const end = Date.now() + 10_000; wakes === 0 && Date.now() < end; await pause(20))
      from.services.store.signals.send("probe");
    off();
    expect(wakes).toBeGreaterThan(0);
  };
  const machine = async (hostname: string, of: TestKey = key) => {
    const { body } = await enroll(here, of, { hostname });
    const { deviceId: id, agentId, agentToken } = body as { deviceId: string; agentId: string; agentToken: string };
    return { id, agentToken, open: (url = here.url): Promise<AgentSocket> => connected(url, agentId, agentToken) };
  };
  const askThere = async (method: string, path: string, body?: object) => {
    const { token } = await here.signIn({ role: "Partner Admin", partnerId });
    const answer = await send(there.url, method, path, { token, ...(body ? { body } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };

  it("brings a command that is queued there at once, once", async () => {
    const pc = await machine("queued");
    const socket = await pc.open();
    const { id } = await askThere("POST", `/devices/${pc.id}/commands`, { type: "lock" });
    expect((await socket.next("command")).id).toBe(id);
    const polled = await send(there.url, "GET", `/agents/${pc.id}/commands`, { token: pc.agentToken });
    expect(polled.body.commands).toEqual([]);
    socket.send({ type: "command_result", commandId: id, status: "completed" });
    await socket.next("ack");
    expect(await askThere("GET", `/devices/${pc.id}/commands/${id}`)).toMatchObject({ status: "completed" });
    socket.raw.close();
  });

  it("brings it within 35 seconds where the signal was lost", async () => {
    const pc = await machine("unheard");
    const socket = await pc.open();
    // It looks once of itself when it begins. A frame that is refused is answered after that, and nothing is handed out.
    socket.send("{");
    await socket.next("error");
    const row = here.db.selectFrom("devices").selectAll().where("id", "=", pc.id);
    const device = await row.executeTakeFirstOrThrow();
    await asSystem(there.services, "work commands")
      .transaction()
      .execute((tx) => insertCommand(tx, there.services, { device, type: "lock", payload: {} }));
    await pause(50);
    expect(socket.waiting("command")).toEqual([]);
    here.clock.advance(35 * SECOND);
    await socket.next("command");
    socket.raw.close();
  });

  it("ends with 4002 when its agent connects there", async () => {
    const pc = await machine("twice");
    const first = await pc.open();
    const second = await pc.open(there.url);
    expect(await first.closed).toBe(4002);
    const { id } = await askThere("POST", `/devices/${pc.id}/commands`, { type: "lock" });
    expect((await second.next("command")).id).toBe(id);
    const third = await pc.open();
    expect(await second.closed).toBe(4002);
    third.raw.close();
  });

  it("leaves one of many that are begun at once at both", async () => {
    const pc = await machine("crowd");
    const sockets = await Promise.all(Array.from({ length: 8 }, (_, n) => pc.open(n % 2 ? here.url : there.url)));
    const codes: number[] = [];
    for (const socket of sockets) void socket.closed.then((code) => codes.push(code));
    await expect.poll(() => codes.length).toBe(7);
    expect(new Set(codes)).toEqual(new Set([4002]));
    const { id } = await askThere("POST", `/devices/${pc.id}/commands`, { type: "lock" });
    await expect
      .poll(() => sockets.flatMap((socket) => socket.waiting("command")).map((frame) => frame.id))
      .toEqual([id]);
    for (const { raw } of sockets) raw.close();
  });

  it("ends with the reason for which it may be no more, and nothing that was queued is sent", async () => {
    const leaving = (await seedPartner(here, "leaving", ["leaving"])).orgIds[0] as string;
    const pcs = {
      quarantined: await machine("quarantined"),
      removed: await machine("removed"),
      moved: await machine("moved"),
      drained: await machine("drained", await makeKey(here, { orgId: leaving })),
    };
    const sockets = await Promise.all(Object.values(pcs).map((pc) => pc.open()));
    await askThere("PATCH", `/devices/${pcs.quarantined.id}`, { quarantined: true, quarantinedReason: "odd" });
    await askThere("DELETE", `/devices/${pcs.removed.id}?uninstall=true`);
    await askThere("POST", `/devices/${pcs.moved.id}/move-org`, target);
    const { token } = await here.signIn({ role: "System Admin" });
    const drain = { token, body: { status: "offboarding" } };
    expect((await send(there.url, "PATCH", `/orgs/organizations/${leaving}`, drain)).status).toBe(200);
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4001, 4041, 4040, 4403]);
    expect(sockets.flatMap((socket) => socket.waiting("command"))).toEqual([]);
    const again = await pcs.moved.open();
    again.raw.close();
  });

  it("holds nothing for an agent that does not read: what was not written waits, and another connection brings it", async () => {
    const pc = await machine("deaf");
    const deaf = await pc.open();
    deaf.raw.pause();
    const row = here.db.selectFrom("devices").selectAll().where("id", "=", pc.id);
    const device = await row.executeTakeFirstOrThrow();
    const content = "x".repeat(1_000_000);
    await asSystem(there.services, "work commands")
      .transaction()
      .execute(async (tx) => {
        for (let n = 0; n < 24; n += 1)
          await insertCommand(tx, there.services, {
            device,
            type: "file_write",
            payload: { path: `/tmp/${n}`, content },
          });
      });
    await askThere("POST", `/devices/${pc.id}/commands`, { type: "lock" });
    const waiting = async () => {
      const commands = here.db.selectFrom("deviceCommands").select("id").where("deviceId", "=", pc.id);
      return (await commands.where("status", "=", "pending").execute()).length;
    };
    await expect.poll(waiting).toBeLessThan(25);
    const next = await pc.open(there.url);
    await expect.poll(() => next.waiting("command").length).toBeGreaterThan(8);
    deaf.raw.resume();
    const received = () => [deaf, next].flatMap((socket) => socket.waiting("command")).map(({ id }) => id);
    await expect.poll(() => received().length).toBe(25);
    expect(new Set(received()).size).toBe(25);
    deaf.raw.terminate();
    next.raw.close();
  });
});
