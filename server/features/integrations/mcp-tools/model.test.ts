import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expireCalls, expireWindows } from "#server/features/access-control/elevation-requests/sweep";
import { giveUpLost } from "#server/features/access-control/tool-executions/give-up";
import { transitions } from "#server/features/access-control/tool-executions/rules";
import { type TestModel, ToolWorld } from "../../../test/access-control/tool-world.ts";
import { databases } from "../../../test/harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../../../test/proving.ts";

const RUNS = inProof({ long: 300, short: 6 });
const steps = [
  ...["call", "call", "approve", "approve", "deny", "revoke", "run", "wait", "sweep", "forbid", "allow"],
] as const;
type Step = (typeof steps)[number];

describe.each(databases)("whatever happens to calls of tools on %s", (database) => {
  let world: ToolWorld;
  beforeAll(async () => {
    world = await ToolWorld.start(database);
  });
  afterAll(() => world?.stop());

  async function take(step: Step, model: TestModel, asked: Set<string>): Promise<void> {
    const { elevations, server } = world;
    const [newest] = [...asked].toReversed();
    const rule = (verdict: string) => world.rule({ matchToolName: "send_device_command", matchRiskTier: 3, verdict });
    if (step === "call") {
      const { data } = await world.reboot(model);
      if (data.elevationRequestId) asked.add(data.elevationRequestId);
    }
    if (step === "approve" && newest) await elevations.approve(newest, { durationMinutes: 2 });
    if (step === "deny" && newest) await elevations.deny(newest);
    if (step === "revoke" && newest) await elevations.revoke(newest);
    if (step === "run") await world.work();
    if (step === "wait") server.clock.advance(70_000);
    if (step === "sweep")
      await Promise.all([expireCalls(server.services), expireWindows(server.services), giveUpLost(server.services)]);
    if (step === "forbid") await rule("auto_deny");
    if (step === "allow") await rule("auto_approve");
  }

  /** Calls beyond the tiers that run at once, with what was decided of each. */
  const decided = (keyId: string) =>
    world.server.db
      .selectFrom("toolExecutions")
      .innerJoin("elevationRequests", "elevationRequests.id", "toolExecutions.elevationRequestId")
      .select(["toolExecutions.status", "elevationRequests.status as decision", "elevationRequests.approvedAt"])
      .select(["elevationRequests.approvedBy", "elevationRequests.decisionSource", "elevationRequests.pamRuleId"])
      .where("toolExecutions.apiKeyId", "=", keyId)
      .execute();

  it(
    "nothing beyond the tiers that run at once runs without somebody, or a rule, that approved it",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...steps), { minLength: 4, maxLength: 12 }), async (chosen) => {
          const model = await world.makeModel();
          const before = await world.commands();
          const asked = new Set<string>();
          for (const step of chosen) await take(step, model, asked);
          // Nothing runs on while it is counted.
          await world.work();
          const all = await decided(model.keyId);
          const ran = all.filter(({ status }) => status === "completed");
          expect(await world.commands()).toBe(before + ran.length);
          for (const one of ran) {
            expect(one.approvedAt).not.toBeNull();
            expect(["human", "pam_rule"]).toContain(one.decisionSource);
            expect(one.decisionSource === "human" ? one.approvedBy : one.pamRuleId).not.toBeNull();
            expect(["approved", "auto_approved", "revoked", "expired"]).toContain(one.decision);
          }
          for (const { status, decision } of all) {
            if (decision === "denied" || decision === "pending") expect(status).not.toBe("completed");
            if (decision === "expired" || decision === "revoked") expect(transitions[status]).toEqual([]);
          }
          await world.dropRules();
          await world.server.db
            .updateTable("apiKeys")
            .set({ status: "revoked" })
            .where("id", "=", model.keyId)
            .execute();
          await world.work();
        }),
        { numRuns: RUNS, ...(inProof({ long: 1, short: 0 }) === 0 ? { seed: 20_261_130 } : {}) },
      );
    },
    PROOF_TIMEOUT_MS,
  );

  it("the database itself lets no call go backwards, change or disappear", async () => {
    const { toolExecutionId, elevationRequestId } = await world.pendingReboot();
    const { db } = world.server;
    const row = db.updateTable("toolExecutions").where("id", "=", toolExecutionId);
    for (const change of [
      { status: "completed", outcome: {} },
      { status: "executing", claimedUntil: world.server.clock.now() },
      { apiKeyId: elevationRequestId },
      { elevationRequestId: toolExecutionId },
    ])
      await expect(row.set(change as never).execute()).rejects.toThrow(/goes one way/);
    await world.elevations.deny(elevationRequestId);
    for (const status of ["pending", "approved", "executing"])
      await expect(row.set({ status } as never).execute()).rejects.toThrow(/goes one way/);
    await expect(db.deleteFrom("toolExecutions").execute()).rejects.toThrow(/goes one way/);
  });
});
