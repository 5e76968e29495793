import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite, type TestKey } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("cancelling a command on %s", (database) => {
  let server: TestServer;
  let key: TestKey;
  let admin: SignedInUser;
  let stranger: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme"]);
    const orgId = orgIds[0] as string;
    await makeSite(server, orgId, "HQ");
    key = await makeKey(server, { orgId });
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    const other = await seedPartner(server, "other", ["far"]);
    stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
  });
  afterAll(() => server?.stop());

  const device = async (hostname: string) => {
    const { body } = await enroll(server, key, { hostname });
    const path = `/devices/${body.deviceId}`;
    const queue = await server.request("POST", `${path}/commands`, { token: admin.token, body: { type: "lock" } });
    const command = `${path}/commands/${queue.body.id}`;
    return {
      id: queue.body.id as string,
      deviceId: body.deviceId as string,
      path,
      cancel: (token = admin.token) => server.request("POST", `${command}/cancel`, { token }),
      show: async () => (await server.request("GET", command, { token: admin.token })).body,
      claim: async () =>
        (await server.request("GET", `/agents/${body.agentId}/commands`, { token: body.agentToken })).body.commands,
    };
  };

  it("keeps it from the agent, is told and recorded", async () => {
    const pc = await device("regretted");
    const { status, body } = await pc.cancel();
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: pc.id, status: "cancelled", sentAt: null, result: { reason: "cancelled" } });
    expect(await pc.claim()).toEqual([]);
    const told = await eventsOf(server.db, pc.deviceId);
    expect(told.filter(({ kind }) => kind === "device.command.failed")).toMatchObject([
      { data: { commandId: pc.id, status: "cancelled" } },
    ]);
    expect(await auditOf(server, ({ action }) => action === "device.command.cancel")).toMatchObject([
      { result: "success", details: { commandId: pc.id, type: "lock" } },
    ]);
    expect(await pc.cancel()).toMatchObject({
      status: 409,
      body: { code: "INVALID_STATE", details: { status: "cancelled" } },
    });
  });

  it("refuses one that was claimed: it may have run", async () => {
    const pc = await device("too-late");
    expect(await pc.claim()).toHaveLength(1);
    expect(await pc.cancel()).toMatchObject({ status: 409, body: { details: { status: "sent" } } });
    expect(await pc.show()).toMatchObject({ status: "sent", result: null });
  });

  it("and a claim in the same moment: one of them has it", async () => {
    for (let round = 0; round < 8; round += 1) {
      const pc = await device(`race-${round}`);
      const [claimed, cancelled] = await Promise.all([pc.claim(), pc.cancel()]);
      expect([claimed.length, cancelled.status]).toEqual(claimed.length === 1 ? [1, 409] : [0, 200]);
      expect((await pc.show()).status).toBe(claimed.length === 1 ? "sent" : "cancelled");
    }
  });

  it("is refused to strangers, and for a device that is on its way out", async () => {
    const pc = await device("leaving");
    expect((await pc.cancel(stranger.token)).status).toBe(404);
    expect((await pc.show()).status).toBe("pending");
    const gone = await server.request("DELETE", `${pc.path}?uninstall=true`, { token: admin.token });
    expect(gone.status, JSON.stringify(gone.body)).toBe(200);
    const [uninstall] = await server.db
      .selectFrom("deviceCommands")
      .selectAll()
      .where("type", "=", "self_uninstall")
      .where("status", "=", "pending")
      .execute();
    const path = `${pc.path}/commands/${uninstall?.id}/cancel`;
    expect(await server.request("POST", path, { token: admin.token })).toMatchObject({
      body: { code: "DEVICE_DECOMMISSIONED" },
    });
    const { status } = await server.db
      .selectFrom("deviceCommands")
      .select("status")
      .where("id", "=", uninstall?.id as string)
      .executeTakeFirstOrThrow();
    expect(status).toBe("pending");
  });
});
