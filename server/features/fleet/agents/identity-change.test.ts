import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connected } from "../../../test/agent-socket.ts";
import { auditEntries } from "../../../test/audit-entries.ts";
import { enroll, makeKey, type TestKey } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe.each(databases)("agents that report to be another machine on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let key: TestKey;
  let admin: SignedInUser;
  let reader: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
    key = await makeKey(server, { orgId });
    admin = await server.signIn({ role: "Org Admin", orgId });
    reader = await server.signIn({ role: "Org Admin", orgId, permissions: ["devices:read", "devices:execute"] });
  });
  afterAll(() => server?.stop());

  const machine = async (hostname: string) => {
    const { body } = await enroll(server, key, { hostname, hardware: { serialNumber: "SN-1" } });
    const id: string = body.deviceId;
    const send = (method: string, path: string, sent: object) =>
      server.request(method, `/agents/${body.agentId}${path}`, { token: body.agentToken, body: sent });
    return {
      id,
      open: () => connected(server.url, body.agentId, body.agentToken),
      beat: (fields: object) => send("POST", "/heartbeat", { status: "ok", ...fields }),
      serial: (serialNumber: string) => send("PUT", "/inventory", { hardware: { serialNumber } }),
      row: () => server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
      set: (change: object) => server.db.updateTable("devices").set(change).where("id", "=", id).execute(),
      entries: async () => {
        const changes = (await auditEntries(server, "agent.heartbeat.state_change")).filter(
          ({ resourceId }) => resourceId === id,
        );
        return changes.map(({ details }) => {
          const { requestId: _, siteIds: __, ...said } = details;
          return said;
        });
      },
      told: async () =>
        (await eventsOf(server.db, id)).filter(({ kind }) => kind === "device.updated").map(({ data }) => data),
      warned: async ({ userId }: SignedInUser) => {
        const rows = server.db.selectFrom("notifications").select(["type", "metadata"]).where("userId", "=", userId);
        return (await rows.execute()).filter(({ metadata }) => (metadata as { deviceId?: string })["deviceId"] === id);
      },
    };
  };

  it("are recorded and told of once, with what was and what is", async () => {
    const pc = await machine("front-desk");
    await pc.beat({ hostname: "front-desk", deviceRole: "unknown" });
    expect([await pc.entries(), await pc.told()]).toEqual([[], []]);
    for (let n = 0; n < 2; n += 1) await pc.beat({ hostname: "reception", deviceRole: "workstation" });
    expect(await pc.entries()).toEqual([
      { hostname: { from: "front-desk", to: "reception" }, deviceRole: { from: "unknown", to: "workstation" } },
    ]);
    const name = { deviceId: pc.id, deviceName: "reception" };
    expect(await pc.told()).toEqual([{ ...name, changedFields: ["hostname", "deviceRole"] }]);
    await pc.set({ deviceRoleSource: "manual" });
    await pc.beat({ deviceRole: "server" });
    const socket = await pc.open();
    socket.send({ type: "heartbeat", status: "ok", hostname: "lobby" });
    await socket.next("heartbeat_ack");
    socket.raw.close();
    expect((await pc.entries()).slice(1)).toEqual([{ hostname: { from: "reception", to: "lobby" } }]);
    expect(await pc.warned(admin)).toEqual([]);
  });

  it("at the same moment are told of as often as something changed", async () => {
    const pc = await machine("raced");
    const answers = await Promise.all(["x", "x", "y", "y"].map((hostname) => pc.beat({ hostname })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const names = (await pc.entries()).map(({ hostname }) => hostname as { from: string; to: string });
    expect(names[0]?.from).toBe("raced");
    for (const [at, { from, to }] of names.entries()) {
      expect(from).not.toBe(to);
      if (at > 0) expect(from).toBe(names[at - 1]?.to);
    }
    expect(names.at(-1)?.to).toBe((await pc.row()).hostname);
    expect(await pc.told()).toHaveLength(names.length);
  });

  it("again and again are told of ten times a day, serial numbers with them, the last as flapping, with one warning", async () => {
    const pc = await machine("twin-a");
    for (let n = 0; n < 5; n += 1) await pc.beat({ hostname: n % 2 === 0 ? "twin-b" : "twin-a" });
    for (let n = 0; n < 4; n += 1) await pc.serial(n % 2 === 0 ? "SN-2" : "SN-1");
    const before = await pc.entries();
    expect([before.length, before.filter(({ flapping }) => flapping)]).toEqual([9, []]);
    for (let n = 0; n < 5; n += 1) await pc.beat({ hostname: n % 2 === 0 ? "twin-a" : "twin-b" });
    expect((await pc.row()).hostname).toBe("twin-a");
    const entries = await pc.entries();
    expect(entries).toHaveLength(10);
    expect(entries.map(({ flapping }) => flapping ?? false)).toEqual([...Array(9).fill(false), true]);
    expect(await pc.told()).toHaveLength(10);
    expect(await pc.warned(admin)).toMatchObject([{ type: "security", metadata: { deviceId: pc.id } }]);
    expect(await pc.warned(reader)).toEqual([]);
    const other = await machine("neighbour");
    await other.beat({ hostname: "renamed" });
    expect(await other.entries()).toHaveLength(1);
  });

  it("warn once a day, however the changes are spread", async () => {
    const pc = await machine("spread");
    let names = 0;
    const change = async (times: number) => {
      for (let n = 0; n < times; n += 1) await pc.beat({ hostname: `name-${names++}` });
    };
    await change(5);
    server.clock.advance(12 * HOUR);
    await change(6);
    expect([(await pc.entries()).length, (await pc.warned(admin)).length]).toEqual([10, 1]);
    server.clock.advance(12 * HOUR + 30 * MINUTE);
    await change(6);
    expect([(await pc.entries()).length, (await pc.warned(admin)).length]).toEqual([15, 1]);
    server.clock.advance(12 * HOUR);
    await change(6);
    expect([(await pc.entries()).length, (await pc.warned(admin)).length]).toEqual([20, 2]);
  });
});
