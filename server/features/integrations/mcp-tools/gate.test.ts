import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { cleanUp } from "#server/features/access-control/elevation-requests/clean-up";
import { expireCalls, expireWindows } from "#server/features/access-control/elevation-requests/sweep";
import { giveUpLost } from "#server/features/access-control/tool-executions/give-up";
import { problem } from "#server/problem";
import { ToolWorld } from "../../../test/access-control/tool-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases } from "../../../test/harness.ts";
import { runs } from "./tools.ts";

const MINUTE = 60_000;

describe.each(databases)("calls of tools and their approval on %s", (database) => {
  let world: ToolWorld;
  const told = async (id: string) => (await eventsOf(world.server.db, id)).map(({ kind }) => kind);
  const result = async (toolExecutionId: string, model = world.model) =>
    (await model.client.call("get_tool_execution", { toolExecutionId })).data;
  const show = (id: string) => world.elevations.show(id);

  beforeAll(async () => {
    world = await ToolWorld.start(database);
  });
  afterEach(() => world.dropRules());
  afterAll(() => world?.stop());

  it("reads and mild changes run at once, and leave no request", async () => {
    const { deviceId } = world.agent;
    const sent = await world.model.client.call("send_device_command", { deviceId, type: "refresh_inventory" });
    expect(sent).toMatchObject({
      isError: false,
      data: { type: "refresh_inventory", status: "pending", createdBy: null },
    });
    expect(await world.commands("refresh_inventory")).toBe(1);
    expect(await world.server.db.selectFrom("toolExecutions").select("id").execute()).toEqual([]);
    const [entry] = await auditOf(world.server, ({ action }) => action === "mcp.tool.send_device_command");
    expect(entry).toMatchObject({
      ...{ actorType: "api_key", actorId: world.model.keyId, result: "success", resourceId: deviceId },
      details: { tool: "send_device_command", targets: [deviceId], riskTier: 2, siteIds: [world.elevations.siteId] },
    });
    expect(JSON.stringify(entry)).not.toContain("refresh_inventory");
  });

  it("a restart waits for a person; approved it runs once and is told to the key that asked", async () => {
    const { toolExecutionId, elevationRequestId } = await world.pendingReboot();
    expect(await world.commands()).toBe(0);
    expect(await result(toolExecutionId)).toMatchObject({ status: "pending", riskTier: 3, result: null });
    const shown = await show(elevationRequestId);
    expect(shown).toMatchObject({
      ...{ flowType: "ai_tool_action", status: "pending", enforcementStatus: "none", toolName: "send_device_command" },
      ...{ riskTier: 3, subjectUsername: `key:${world.model.keyId}`, deviceId: world.agent.deviceId },
      toolInput: { deviceId: world.agent.deviceId, type: "reboot" },
      toolTargets: [{ deviceId: world.agent.deviceId, siteId: world.elevations.siteId }],
    });
    expect(shown.actionDigest).toMatch(/^[0-9a-f]{64}$/);
    const notices = await world.elevations.request("GET", "/notifications");
    expect(notices.body.data[0]).toMatchObject({ metadata: { elevationRequestId } });

    const approved = await world.elevations.approve(elevationRequestId);
    expect(approved.body).toMatchObject({ status: "approved", enforcementStatus: "none" });
    expect(await world.commands()).toBe(0);
    await world.work();
    expect(await world.commands()).toBe(1);
    const done = await result(toolExecutionId);
    expect(done).toMatchObject({ status: "completed", result: { type: "reboot" }, error: null });
    await world.work();
    expect(await world.commands()).toBe(1);
    expect(await world.elevations.ledger(elevationRequestId)).toEqual(["requested", "approved", "command_executed"]);
    expect(await told(elevationRequestId)).toEqual(["elevation.requested", "elevation.approved"]);
    const entries = await auditOf(
      world.server,
      ({ details }) => (details as { toolExecutionId?: string }).toolExecutionId === toolExecutionId,
    );
    expect(entries.map(({ actorType, result: how }) => [actorType, how])).toEqual([
      ["api_key", "success"],
      ["ai_agent", "success"],
    ]);
    expect((await world.agent.claim()).map(({ type }) => type)).toContain("reboot");
  });

  it("equal calls that wait are one, of other input or key another", async () => {
    const first = await world.pendingReboot();
    expect(await world.pendingReboot()).toEqual(first);
    const other = await world.makeModel();
    expect((await world.pendingReboot(other)).toolExecutionId).not.toBe(first.toolExecutionId);
    await world.elevations.deny(first.elevationRequestId, { reason: "not now" });
    expect(await result(first.toolExecutionId)).toMatchObject({ status: "rejected" });
    expect((await world.pendingReboot()).toolExecutionId).not.toBe(first.toolExecutionId);
  });

  it("rules decide by tool, tier and key: deny, approve at once, or ask", async () => {
    const of = (more: object) => ({ matchToolName: "send_device_command", matchRiskTier: 3, ...more });
    await world.rule(of({ verdict: "auto_deny" }));
    const untouched = await world.elevations.device();
    const denied = await world.reboot(world.model, untouched.deviceId);
    expect(denied).toMatchObject({ isError: true, data: { code: "TOOL_DENIED" } });
    const { toolExecutionId, elevationRequestId } = denied.data.details;
    expect(await result(toolExecutionId)).toMatchObject({ status: "rejected" });
    expect(await show(elevationRequestId)).toMatchObject({ status: "denied", decisionSource: "pam_rule" });
    expect(await told(elevationRequestId)).toEqual(["elevation.denied"]);
    expect(await world.commands("reboot", untouched.deviceId)).toBe(0);
    await world.dropRules();

    const pamRuleId = await world.rule(of({ verdict: "auto_approve", matchUser: `key:${world.model.keyId}` }));
    const device = await world.elevations.device();
    const ran = await world.reboot(world.model, device.deviceId);
    expect(ran).toMatchObject({ isError: false, data: { type: "reboot", deviceId: device.deviceId } });
    expect(await world.commands("reboot", device.deviceId)).toBe(1);
    const [execution] = await world.server.db
      .selectFrom("toolExecutions")
      .selectAll()
      .where("status", "=", "completed")
      .orderBy("createdAt", "desc")
      .orderBy("id", "desc")
      .execute();
    const id = execution?.elevationRequestId as string;
    expect(await show(id)).toMatchObject({ status: "auto_approved", enforcementStatus: "none", pamRuleId });
    expect(await world.elevations.ledger(id)).toEqual(["requested", "auto_approved", "command_executed"]);
    expect(await told(id)).toEqual(["elevation.auto_approved"]);
    expect((await world.reboot(await world.makeModel(), device.deviceId)).data.status).toBe("pending");
    await world.dropRules();

    await world.rule({ matchToolName: "set_device_custom_fields", verdict: "require_approval" });
    const asked = { deviceId: device.deviceId, values: { rack: "A1" } };
    expect((await world.model.client.call("set_device_custom_fields", asked)).data).toMatchObject({ riskTier: 2 });
  });

  it("a rule that approves runs nothing that the tool refuses, and says so beside the request", async () => {
    await world.rule({ matchToolName: "set_device_custom_fields", verdict: "auto_approve" });
    const asked = { deviceId: world.agent.deviceId, values: { nowhere: "x" } };
    const refused = await world.model.client.call("set_device_custom_fields", asked);
    expect(refused).toMatchObject({ isError: true, data: { code: "CUSTOM_FIELD_UNKNOWN" } });
    const rows = world.server.db.selectFrom("toolExecutions").selectAll().where("status", "=", "failed");
    expect((await rows.execute()).map(({ outcome }) => outcome)).toMatchObject([{ code: "CUSTOM_FIELD_UNKNOWN" }]);
    expect(await eventsOf(world.server.db, world.agent.deviceId)).not.toContainEqual(
      expect.objectContaining({ kind: "device.updated" }),
    );
  });

  it("the organization's default denies what no rule decides, from tier 3 on", async () => {
    const { orgId, request } = world.elevations;
    const say = (defaultUnmatchedVerdict: string) => request("PUT", "/pam/config", { orgId, defaultUnmatchedVerdict });
    await say("auto_deny");
    const { data } = await world.reboot(world.model, (await world.elevations.device()).deviceId);
    expect(data).toMatchObject({ code: "TOOL_DENIED", error: "Blocked by organization default" });
    await say("require_approval");
  });

  it("nobody approves for a key that they made or rotated last; others do, and they may deny", async () => {
    const { approve, deny, request } = world.elevations;
    const rotator = await world.server.signIn({ role: "Partner Admin", partnerId: world.elevations.partnerId });
    const model = await world.makeModel();
    const deviceId = (await world.elevations.device()).deviceId;
    const before = await world.pendingReboot(model, deviceId);
    expect((await approve(before.elevationRequestId, {}, world.maker)).body.code).toBe("SELF_APPROVAL");
    const rotated = await request("POST", `/api-keys/${model.keyId}/rotate`, undefined, rotator);
    expect(rotated.status).toBe(200);
    for (const who of [world.maker, rotator])
      expect((await approve(before.elevationRequestId, {}, who)).body.code).toBe("SELF_APPROVAL");
    const org = await world.server.signIn({ role: "Org Admin", orgId: world.elevations.orgId });
    await world.server.db.updateTable("apiKeys").set({ issuedBy: org.userId }).where("id", "=", model.keyId).execute();
    expect((await approve(before.elevationRequestId, {}, org)).body.code).toBe("SELF_APPROVAL");
    expect(await world.execution(before.toolExecutionId)).toMatchObject({ status: "pending" });
    expect((await deny(before.elevationRequestId, {}, world.maker)).status).toBe(200);
  });

  it("what nobody decides in time runs no more, at the next decision or by the clock", async () => {
    const late = await world.pendingReboot();
    world.server.clock.advance(5 * MINUTE);
    const { status, body } = await world.elevations.approve(late.elevationRequestId);
    expect([status, body.code]).toEqual([409, "EXECUTION_TIMED_OUT"]);
    expect(await show(late.elevationRequestId)).toMatchObject({ status: "expired", enforcementStatus: "none" });
    expect(await result(late.toolExecutionId)).toMatchObject({ status: "expired" });
    expect((await world.elevations.approve(late.elevationRequestId)).body.code).toBe("EXECUTION_TIMED_OUT");
    await expireCalls(world.server.services);
    const swept = await world.pendingReboot();
    world.server.clock.advance(5 * MINUTE - 1);
    expect(await expireCalls(world.server.services)).toBe(0);
    world.server.clock.advance(1);
    expect(await expireCalls(world.server.services)).toBeGreaterThan(0);
    expect(await told(swept.elevationRequestId)).toEqual(["elevation.requested", "elevation.expired"]);
    expect(await result(swept.toolExecutionId)).toMatchObject({ status: "expired" });
  });

  it("a call that ended in another way takes the decision with it", async () => {
    const { toolExecutionId, elevationRequestId } = await world.pendingReboot();
    const row = world.server.db.updateTable("toolExecutions").where("id", "=", toolExecutionId);
    await row.set({ status: "expired" }).execute();
    const { status, body } = await world.elevations.approve(elevationRequestId);
    expect([status, body.code]).toEqual([409, "EXECUTION_TIMED_OUT"]);
    expect(await show(elevationRequestId)).toMatchObject({ status: "pending", approvedAt: null });
  });

  it("taken back, or after its window, nothing runs, and no command goes to the device", async () => {
    const before = await world.commands();
    const first = await world.pendingReboot();
    await world.elevations.approve(first.elevationRequestId);
    expect((await world.elevations.actuate(world.agent.deviceId, first.elevationRequestId)).body.code).toBe(
      "wrong_status",
    );
    expect((await world.elevations.revoke(first.elevationRequestId)).body.enforcementStatus).toBe("cleanup_pending");
    await world.work();
    await cleanUp(world.server.services);
    expect(await show(first.elevationRequestId)).toMatchObject({ status: "revoked", enforcementStatus: "cleaned" });
    expect(await result(first.toolExecutionId)).toMatchObject({ status: "rejected" });
    const second = await world.pendingReboot();
    await world.elevations.approve(second.elevationRequestId, { durationMinutes: 1 });
    world.server.clock.advance(MINUTE);
    await world.work();
    await expireWindows(world.server.services);
    expect(await result(second.toolExecutionId)).toMatchObject({ status: "expired" });
    expect(await world.commands()).toBe(before);
    expect(await world.commands("revoke_elevation")).toBe(0);
    expect(await world.commands("actuate_elevation")).toBe(0);
  });

  it("what the key may no longer do, or was not decided on, fails and runs nothing", async () => {
    const { db } = world.server;
    const broken: [string, (keyId: string, elevationRequestId: string) => Promise<unknown>, string][] = [
      [
        "revoked",
        (id) => db.updateTable("apiKeys").set({ status: "revoked" }).where("id", "=", id).execute(),
        "API_KEY_REVOKED",
      ],
      [
        "narrowed",
        (id) => db.updateTable("apiKeys").set({ scopes: [] }).where("id", "=", id).execute(),
        "API_KEY_SCOPE_REQUIRED",
      ],
      [
        "without owner",
        (id) => db.updateTable("apiKeys").set({ principalType: "service" }).where("id", "=", id).execute(),
        "API_KEY_OWNER_INACTIVE",
      ],
    ];
    for (const [, breakIt, code] of broken) {
      const model = await world.makeModel();
      const device = await world.elevations.device();
      const asked = await world.pendingReboot(model, device.deviceId);
      await world.elevations.approve(asked.elevationRequestId);
      await breakIt(model.keyId, asked.elevationRequestId);
      await world.work();
      expect((await db.selectFrom("jobs").select("lastError").execute()).filter((job) => job.lastError)).toEqual([]);
      expect(await world.execution(asked.toolExecutionId)).toMatchObject({ status: "failed", outcome: { code } });
      expect(await world.commands("reboot", device.deviceId)).toBe(0);
    }
  });

  it("what a tool meets too often fails as well, with its entry", async () => {
    const { toolExecutionId, elevationRequestId } = await world.pendingReboot();
    await world.elevations.approve(elevationRequestId);
    const before = await world.commands();
    vi.spyOn(runs.send_device_command, "run").mockRejectedValueOnce(problem("RATE_LIMITED"));
    await world.work();
    expect(await world.execution(toolExecutionId)).toMatchObject({
      ...{ status: "failed", outcome: { code: "RATE_LIMITED" } },
    });
    expect(await world.commands()).toBe(before);
    const entries = await auditOf(
      world.server,
      ({ actorType, details }) =>
        actorType === "ai_agent" && (details as { toolExecutionId?: string }).toolExecutionId === toolExecutionId,
    );
    expect(entries).toMatchObject([{ result: "failure", details: { errorCode: "RATE_LIMITED" } }]);
  });

  it("a device that leaves, or is shut away, takes the call along", async () => {
    const device = await world.elevations.device();
    const waiting = await world.pendingReboot(world.model, device.deviceId);
    await world.elevations.request("PATCH", `/devices/${device.deviceId}`, {
      ...{ quarantined: true, quarantinedReason: "odd" },
    });
    expect(await world.execution(waiting.toolExecutionId)).toMatchObject({ status: "rejected" });
    expect(await world.reboot(world.model, device.deviceId)).toMatchObject({
      isError: true,
      data: { code: "INVALID_STATE" },
    });
    const gone = await world.elevations.device();
    const approved = await world.pendingReboot(world.model, gone.deviceId);
    await world.elevations.approve(approved.elevationRequestId);
    await world.elevations.request("DELETE", `/devices/${gone.deviceId}`);
    expect(await world.execution(approved.toolExecutionId)).toMatchObject({ status: "rejected" });
    await world.work();
    await cleanUp(world.server.services);
    expect(await show(approved.elevationRequestId)).toMatchObject({ status: "revoked", enforcementStatus: "cleaned" });
    expect(await world.commands("reboot", gone.deviceId)).toBe(0);
  });

  it("one left by a runner that is gone is given up, with its entry, and never runs again", async () => {
    const { toolExecutionId, elevationRequestId } = await world.pendingReboot();
    await world.elevations.approve(elevationRequestId);
    const before = await world.commands();
    await world.server.db
      .updateTable("toolExecutions")
      .set({ status: "executing", claimedUntil: new Date(world.server.clock.nowMs() + 2 * MINUTE).toISOString() })
      .where("id", "=", toolExecutionId)
      .execute();
    expect(await giveUpLost(world.server.services)).toBe(0);
    world.server.clock.advance(2 * MINUTE);
    expect(await giveUpLost(world.server.services)).toBe(1);
    await world.work();
    expect(await result(toolExecutionId)).toMatchObject({
      status: "failed",
      error: "outcome unknown",
      code: "OUTCOME_UNKNOWN",
    });
    expect(await world.commands()).toBe(before);
    const entries = await auditOf(
      world.server,
      ({ actorType, details }) =>
        actorType === "ai_agent" && (details as { toolExecutionId?: string }).toolExecutionId === toolExecutionId,
    );
    expect(entries).toMatchObject([{ result: "failure", details: { errorCode: "OUTCOME_UNKNOWN" } }]);
  });

  it("only the key that asked, while it holds the scope, learns what became of it; another tenant sees nothing", async () => {
    const { toolExecutionId, elevationRequestId } = await world.pendingReboot();
    const stranger = await world.makeModel(undefined, world.elevations.otherOrgId);
    for (const model of [await world.makeModel(), stranger])
      expect(await model.client.call("get_tool_execution", { toolExecutionId })).toMatchObject({
        ...{ isError: true, data: { code: "NOT_FOUND" } },
      });
    const { deviceId } = world.agent;
    for (const [name, input] of [
      ["get_device", { deviceId }],
      ["get_device_software", { deviceId }],
      ["get_device_metrics", { deviceId, metric: "cpu", hours: 1 }],
      ["get_device_custom_fields", { deviceId }],
      ["set_device_custom_fields", { deviceId, values: { a: 1 } }],
      ["send_device_command", { deviceId, type: "reboot" }],
      ["send_device_command", { deviceId, type: "collect_logs" }],
      ["list_pending_patches", { deviceId }],
    ] as const)
      expect(await stranger.client.call(name, input), name).toMatchObject({
        isError: true,
        data: { code: "NOT_FOUND" },
      });
    expect(await stranger.client.call("list_devices", { siteId: world.elevations.siteId })).toMatchObject({
      data: { code: "SITE_ACCESS_DENIED" },
    });
    expect((await stranger.client.call("list_devices")).data.data).toEqual([]);
    expect((await stranger.client.call("search", { q: "pc-" })).data.results).toEqual([]);
    const scopes = world.server.db.updateTable("apiKeys").where("id", "=", world.model.keyId);
    await scopes.set({ scopes: ["devices:read"] }).execute();
    expect((await world.model.client.call("get_tool_execution", { toolExecutionId })).data.code).toBe("NOT_FOUND");
    await scopes.set({ scopes: ["devices:read", "devices:write", "devices:execute", "sites:read"] }).execute();
    await world.elevations.deny(elevationRequestId);
  });
});
