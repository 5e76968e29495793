import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases } from "../../../test/harness.ts";
import { endOverdueCommands } from "../../fleet/device-commands/sweep.ts";
import { cleanUp } from "./clean-up.ts";
import { expireWindows } from "./sweep.ts";

const MINUTE = 60_000;

describe.each(databases)("carrying approvals out on %s", (database) => {
  let world: ElevationWorld;

  beforeAll(async () => {
    world = await ElevationWorld.start(database);
  });
  afterAll(() => world?.stop());

  const enforcement = async (id: string) => {
    const { status, enforcementStatus } = await world.show(id);
    return [status, enforcementStatus];
  };
  const approved = async (agent: TestAgent) => {
    const id = await world.pending(agent.deviceId);
    await world.approve(id);
    return id;
  };
  const minutePasses = async () => {
    world.server.clock.advance(MINUTE);
    await expireWindows(world.server.services);
    await cleanUp(world.server.services);
  };

  it("an approved request is handed out once, names no credential, and is active once the agent says so", async () => {
    const agent = await world.device();
    const id = await approved(agent);
    const { status, body } = await world.actuate(agent.deviceId, id);
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.any(String), deviceId: agent.deviceId, type: "actuate_elevation", status: "pending" },
        ...{ elevationRequestId: id, createdAt: world.server.clock.now() },
      },
    ]);
    expect(await enforcement(id)).toEqual(["actuating", "dispatched"]);
    const again = await world.actuate(agent.deviceId, id);
    expect([again.status, again.body.code, again.body.reason]).toEqual([409, "race_lost", "race_lost"]);
    const commands = await agent.claim();
    expect(commands).toEqual([
      { id: body.id, type: "actuate_elevation", payload: { elevationRequestId: id, timeoutMs: 8_000 } },
    ]);
    expect((await agent.status(id)).body).toEqual({
      ...{ id, serverTime: world.server.clock.now(), flowType: "uac_intercept", status: "actuating" },
      ...{ subjectUsername: "CONTOSO\\jana", targetExecutablePath: "C:/Setup/printer.exe", targetExecutableHash: null },
      ...{ commandLine: "printer.exe /S", expiresAt: (await world.show(id)).expiresAt },
    });
    await agent.answer(body.id, { outcome: "ok" });
    expect(await enforcement(id)).toEqual(["actuating", "active"]);
    expect(await world.ledger(id)).toEqual(["approved", "command_executed", "activated"]);
    expect((await eventsOf(world.server.db, id)).map(({ kind }) => kind)).toEqual([
      "elevation.approved",
      "elevation.activated",
    ]);
    const entries = await auditOf(world.server, ({ details }) => details["elevationRequestId"] === id);
    expect(entries.map(({ action, result }) => [action, result])).toEqual(
      expect.arrayContaining([
        ["device.elevation.actuate", "success"],
        ["device.elevation.actuate.rejected", "failure"],
      ]),
    );
  });

  it("anything else that the agent says is a failure, with its word; the request is not used again", async () => {
    for (const [result, status, error] of [
      [{ outcome: "target_changed", detail: "other\u202e hash" }, "completed", "other\ufffd hash"],
      [{ outcome: "okay" }, "completed", "The agent's answer could not be read"],
      [undefined, "completed", "The agent's answer could not be read"],
      [{ outcome: "ok" }, "failed", "failed"],
    ] as const) {
      const agent = await world.device();
      const { id, commandId } = await world.actuated(agent);
      await agent.answer(commandId, result, status);
      expect(await world.show(id)).toMatchObject({ enforcementStatus: "failed", enforcementError: error });
      expect((await world.actuate(agent.deviceId, id)).body.code).toBe("race_lost");
    }
  });

  it("nobody keeps the device from ending them by cancelling its order", async () => {
    const agent = await world.device();
    const { id, commandId } = await world.actuated(agent);
    await agent.answer(commandId, { outcome: "ok" });
    await world.revoke(id);
    const waiting = await world.request("GET", `/devices/${agent.deviceId}/commands?status=pending`);
    const [order] = waiting.body.data;
    expect(order.type).toBe("revoke_elevation");
    const path = `/devices/${agent.deviceId}/commands/${order.id}/cancel`;
    const { status, body } = await world.request("POST", path);
    expect([status, body.code, body.details]).toEqual([
      ...[409, "INVALID_STATE", { status: "pending", type: "revoke_elevation" }],
    ]);
    expect((await agent.claim()).map(({ type }) => type)).toEqual(["revoke_elevation"]);
  });

  it("only an approved request of this device, within its window", async () => {
    const agent = await world.device();
    const other = await world.device();
    const id = await approved(agent);
    expect((await world.actuate(other.deviceId, id)).status).toBe(404);
    for (const status of ["pending", "denied", "auto_approved"] as const) {
      const now = world.server.clock.now();
      const window = status === "auto_approved" ? { approvedAt: now, expiresAt: "2099-01-01T00:00:00.000Z" } : {};
      const one = await world.pending(agent.deviceId, { status, ...window });
      expect((await world.actuate(agent.deviceId, one)).body).toMatchObject({
        code: "wrong_status",
        reason: "wrong_status",
      });
    }
    world.server.clock.advance(15 * MINUTE);
    expect((await world.actuate(agent.deviceId, id)).body.code).toBe("wrong_status");
    expect(await agent.claim()).toEqual([]);
    const stranger = await world.server.signIn({ role: "Org Admin", orgId: world.otherOrgId });
    expect((await world.actuate(agent.deviceId, id, stranger)).status).toBe(404);
  });

  it("the order is not handed out once the window is over or the rights are taken back", async () => {
    const agent = await world.device();
    const late = await approved(agent);
    await world.actuate(agent.deviceId, late);
    const path = `/pam/elevation-requests/${late}/revoke`;
    await world.request("POST", path, { reason: "no" });
    const commands = await agent.claim();
    expect(commands.map(({ type, payload }) => [type, payload])).toEqual([
      ["revoke_elevation", { elevationRequestId: late, cause: "revoked" }],
    ]);
    const other = await world.device();
    const over = await approved(other);
    await world.actuate(other.deviceId, over);
    world.server.clock.advance(15 * MINUTE);
    expect(await other.claim()).toEqual([]);
  });

  it("a late yes has the device end the rights at once", async () => {
    const agent = await world.device();
    const { id, commandId } = await world.actuated(agent);
    world.server.clock.advance(6 * MINUTE);
    await endOverdueCommands(world.server.services);
    expect(await enforcement(id)).toEqual(["actuating", "failed"]);
    await agent.answer(commandId, { outcome: "ok" });
    await world.server.workJobs();
    expect(await enforcement(id)).toEqual(["actuating", "cleanup_pending"]);
    expect((await agent.claim()).map(({ type }) => type)).toEqual(["revoke_elevation"]);
  });

  it("a window that ends is cleaned on the device where anything may have begun there", async () => {
    const agent = await world.device();
    const untouched = await approved(agent);
    const { id, commandId } = await world.actuated(agent);
    await agent.answer(commandId, { outcome: "ok" });
    world.server.clock.advance(14 * MINUTE);
    await minutePasses();
    expect(await enforcement(untouched)).toEqual(["expired", "none"]);
    expect(await enforcement(id)).toEqual(["expired", "cleanup_pending"]);
    const [command] = await agent.claim();
    expect(command).toMatchObject({ type: "revoke_elevation", payload: { elevationRequestId: id, cause: "expired" } });
    await agent.answer(command?.id as string, { outcome: "unknown_request" });
    expect(await enforcement(id)).toEqual(["expired", "cleaned"]);
    expect(await world.ledger(id)).toEqual(["approved", "command_executed", "activated", "expired", "cleaned"]);
    const entries = await auditOf(world.server, (entry) => entry.resourceId === id);
    expect(entries.map(({ action, actorType }) => [action, actorType])).toContainEqual([
      "pam.elevation_request.expired",
      "system",
    ]);
  });

  it("cleaning is tried five times, a minute apart", async () => {
    const agent = await world.device();
    const { id, commandId } = await world.actuated(agent);
    await agent.answer(commandId, { outcome: "ok" });
    await world.revoke(id);
    for (let tries = 1; tries <= 5; tries += 1) {
      expect(await enforcement(id)).toEqual(["revoked", "cleanup_pending"]);
      const [command] = await agent.claim();
      await agent.answer(command?.id as string, { outcome: "error", detail: "busy" });
      expect(await agent.claim()).toEqual([]);
      await minutePasses();
    }
    expect(await enforcement(id)).toEqual(["revoked", "cleanup_failed"]);
    expect(await agent.claim()).toEqual([]);
  });

  it("a revoke needs a reason, and works in an organization that is wound down, where the device still hears of it", async () => {
    const agent = await world.device();
    const { id, commandId } = await world.actuated(agent);
    await agent.answer(commandId, { outcome: "ok" });
    for (const reason of ["", " ", "x".repeat(2_001), null])
      expect((await world.revoke(id, reason as string)).status).toBe(400);
    const org = world.server.db.updateTable("organizations").where("id", "=", world.orgId);
    await org.set({ status: "offboarding" }).execute();
    try {
      expect((await world.revoke(id)).body).toEqual({
        ...{ success: true, id, status: "revoked", enforcementStatus: "cleanup_pending" },
      });
      expect((await world.revoke(id)).body).toMatchObject({ code: "INVALID_STATE", details: { status: "revoked" } });
      const [command] = await agent.claim();
      expect(command?.type).toBe("revoke_elevation");
      await agent.answer(command?.id as string, { outcome: "ok" });
    } finally {
      await org.set({ status: "active" }).execute();
    }
    expect(await enforcement(id)).toEqual(["revoked", "cleaned"]);
    const none = await world.actuate(agent.deviceId, id);
    expect(none.body.code).toBe("wrong_status");
  });

  it("is off unless the server is told otherwise", async () => {
    const off = await ElevationWorld.start(database, { PAM_ACTUATOR_ENABLED: "false" });
    try {
      const agent = await off.device();
      const id = await off.pending(agent.deviceId);
      await off.approve(id);
      expect((await off.actuate(agent.deviceId, id)).body.code).toBe("ACTUATOR_DISABLED");
      expect(await off.show(id)).toMatchObject({ status: "approved" });
    } finally {
      await off.stop();
    }
  });
});
