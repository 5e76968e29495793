import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases } from "../../../test/harness.ts";
import { cleanUp } from "./clean-up.ts";

describe.each(databases)("requests of a device that leaves on %s", (database) => {
  let world: ElevationWorld;

  beforeAll(async () => {
    world = await ElevationWorld.start(database);
  });
  afterAll(() => world?.stop());

  const send = (method: string, path: string, body?: object) => world.request(method, path, body);

  /** One that waits, one that is active. */
  const both = async (agent: TestAgent) => {
    const { id, commandId } = await world.actuated(agent);
    await agent.answer(commandId, { outcome: "ok" });
    return { active: id, waiting: await world.pending(agent.deviceId) };
  };

  it("a move ends them; they stay with their organization, and the machine is told in the new one", async () => {
    const agent = await world.device();
    const { active, waiting } = await both(agent);
    const move = { orgId: world.otherOrgId, siteId: world.otherSiteId };
    expect((await send("POST", `/devices/${agent.deviceId}/move-org`, move)).status).toBe(200);
    expect(await world.show(waiting)).toMatchObject({
      status: "expired",
      deviceId: null,
      events: [{ details: { cause: "moved" } }],
    });
    expect(await world.show(active)).toMatchObject({
      ...{
        status: "revoked",
        revokedReason: "device_moved",
        deviceId: null,
        deviceHostname: "reception-pc",
        siteId: null,
      },
    });
    expect((await eventsOf(world.server.db, active)).at(-1)).toMatchObject({
      kind: "elevation.revoked",
      orgId: world.orgId,
    });
    expect((await eventsOf(world.server.db, waiting)).at(-1)).toMatchObject({ kind: "elevation.expired" });
    await world.server.workJobs();
    const [command] = await agent.claim();
    expect(command).toMatchObject({ type: "revoke_elevation", payload: { elevationRequestId: active } });
    expect((await agent.status(active)).status).toBe(404);
    await agent.answer(command?.id as string, { outcome: "ok" });
    expect(await world.show(active)).toMatchObject({ enforcementStatus: "cleaned" });
    const confined = await world.person("Org Admin", { siteIds: [world.siteId] });
    expect((await world.show(active, confined)).code).toBe("SITE_ACCESS_DENIED");
  });

  it("quarantine ends them, and the machine is told when it is over", async () => {
    const agent = await world.device();
    const { active, waiting } = await both(agent);
    const path = `/devices/${agent.deviceId}`;
    await send("PATCH", path, { quarantined: true, quarantinedReason: "odd" });
    expect((await world.show(waiting)).status).toBe("expired");
    expect(await world.show(active)).toMatchObject({ status: "revoked", enforcementStatus: "cleanup_pending" });
    await world.server.workJobs();
    await cleanUp(world.server.services);
    expect((await agent.status(active)).status).toBe(403);
    await send("PATCH", path, { quarantined: false });
    await cleanUp(world.server.services);
    expect((await agent.claim()).map(({ type }) => type)).toEqual(["revoke_elevation"]);
  });

  it("a report that was on its way when the device was shut away opens nothing", async () => {
    const agent = await world.device();
    const rule = { orgId: world.orgId, name: "Setup", verdict: "auto_approve", matchPathGlob: "c:/setup/**" };
    expect((await send("POST", "/pam/rules", rule)).status).toBe(201);
    const { limiter } = world.server.services;
    const take = limiter.takeLeased.bind(limiter);
    // Its token has been read by then.
    const between = vi.spyOn(limiter, "takeLeased").mockImplementation(async (limit, subject) => {
      if (limit.name === "elevation-report") {
        const shut = await send("PATCH", `/devices/${agent.deviceId}`, { quarantined: true, quarantinedReason: "odd" });
        expect(shut.status).toBe(200);
      }
      return take(limit, subject);
    });
    const prompt = { subject_username: "jana", target_executable_path: "C:/Setup/a.exe" };
    const { status } = await agent.report(prompt);
    between.mockRestore();
    expect(status).toBe(503);
    expect((await agent.report(prompt)).body.code).toBe("DEVICE_QUARANTINED");
    const rows = world.server.db.selectFrom("elevationRequests").select("id").where("deviceId", "=", agent.deviceId);
    expect(await rows.execute()).toEqual([]);
  });

  it("decommissioning ends them for good", async () => {
    const agent = await world.device();
    const { active, waiting } = await both(agent);
    await send("DELETE", `/devices/${agent.deviceId}`);
    expect((await world.show(waiting)).status).toBe("expired");
    expect(await world.show(active)).toMatchObject({ status: "revoked", enforcementStatus: "cleanup_failed" });
    expect((await world.ask(agent.deviceId)).body.code).toBe("DEVICE_DECOMMISSIONED");
  });
});
