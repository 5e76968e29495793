import { afterAll, beforeAll, describe, expect } from "vitest";
import { expireCalls } from "#server/features/access-control/elevation-requests/sweep";
import { giveUpLost } from "#server/features/access-control/tool-executions/give-up";
import { ToolWorld } from "../../../test/access-control/tool-world.ts";
import { databases } from "../../../test/harness.ts";
import { inProof } from "../../../test/proving.ts";
import { repeating } from "../../../test/repeating.ts";
import { runApproved } from "./run-approved.ts";

const rounds = repeating(inProof({ long: 200, short: 6 }));

describe.each(databases)("races over calls of tools on %s", (database) => {
  let world: ToolWorld;
  beforeAll(async () => {
    world = await ToolWorld.start(database);
  });
  afterAll(() => world?.stop());

  /** A call of a device of its own that waits. */
  async function waiting() {
    const { deviceId } = await world.elevations.device();
    const asked = await world.pendingReboot(world.model, deviceId);
    const at = { id: asked.elevationRequestId, orgId: world.elevations.orgId };
    return { ...asked, at, ran: () => world.commands("reboot", deviceId) };
  }

  rounds("an approval and the end of the wait: one of them, and it runs only if approved", async () => {
    const one = await waiting();
    world.server.clock.advance(299_999);
    const approving = world.elevations.approve(one.elevationRequestId);
    world.server.clock.advance(1);
    const [approved] = await Promise.all([approving, expireCalls(world.server.services)]);
    await world.work();
    const { status } = await world.execution(one.toolExecutionId);
    if (approved.status === 200) expect([status, await one.ran()]).toEqual(["completed", 1]);
    else {
      expect(approved.body.code).toBe("EXECUTION_TIMED_OUT");
      expect([status, await one.ran()]).toEqual(["expired", 0]);
    }
  });

  rounds("a revocation and a runner: it ran, or it never will", async () => {
    const one = await waiting();
    await world.elevations.approve(one.elevationRequestId);
    const [revoked] = await Promise.all([
      world.elevations.revoke(one.elevationRequestId),
      runApproved(world.server.services, one.at),
    ]);
    expect(revoked.status).toBe(200);
    await world.work();
    const { status } = await world.execution(one.toolExecutionId);
    expect([status, await one.ran()]).toEqual(status === "rejected" ? ["rejected", 0] : ["completed", 1]);
    const ledger = await world.elevations.ledger(one.elevationRequestId);
    expect(ledger.includes("command_executed")).toBe(status === "completed");
  });

  rounds("four runners of one approval: it runs once", async () => {
    const one = await waiting();
    await world.elevations.approve(one.elevationRequestId);
    await Promise.all([
      ...[1, 2, 3].map(() => runApproved(world.server.services, one.at)),
      world.work(),
      giveUpLost(world.server.services),
    ]);
    expect(await one.ran()).toBe(1);
    expect(await world.execution(one.toolExecutionId)).toMatchObject({ status: "completed" });
    const ledger = await world.elevations.ledger(one.elevationRequestId);
    expect(ledger.filter((event) => event === "command_executed")).toHaveLength(1);
  });

  rounds("a key that is revoked and a runner: it ran before, or fails", async () => {
    const model = await world.makeModel();
    const { deviceId } = await world.elevations.device();
    const asked = await world.pendingReboot(model, deviceId);
    await world.elevations.approve(asked.elevationRequestId);
    const at = { id: asked.elevationRequestId, orgId: world.elevations.orgId };
    const [revoked] = await Promise.all([
      world.elevations.request("DELETE", `/api-keys/${model.keyId}`),
      runApproved(world.server.services, at),
    ]);
    expect(revoked.status).toBe(200);
    const { status, outcome } = await world.execution(asked.toolExecutionId);
    expect(await world.commands("reboot", deviceId)).toBe(status === "completed" ? 1 : 0);
    if (status !== "completed") expect(outcome).toMatchObject({ code: "API_KEY_REVOKED" });
  });

  rounds("eight equal calls at once: one request", async () => {
    const { deviceId } = await world.elevations.device();
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.pendingReboot(world.model, deviceId)));
    expect(new Set(answers.map(({ toolExecutionId }) => toolExecutionId)).size).toBe(1);
    await world.elevations.deny(answers[0]?.elevationRequestId as string);
  });
});
