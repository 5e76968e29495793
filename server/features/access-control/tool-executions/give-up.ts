import { recordWork } from "#server/audit/record-work";
import { asSystem } from "#server/db/as-system";
import { word } from "#server/db/dialect/text";
import type { Services } from "#server/services";
import { executions, finishExecution } from "./store.ts";

const BATCH = 200;

/**
 * Calls whose runner is gone: nobody knows whether they took effect, and they never run again (docs/mcp.md,
 * "Approval"). Returns how many.
 */
export async function giveUpLost(services: Services): Promise<number> {
  const db = asSystem(services, "decide elevations");
  const lost = await executions(db)
    .where("toolExecutions.status", "=", word("executing"))
    .where("toolExecutions.claimedUntil", "<=", services.clock.now())
    .limit(BATCH)
    .execute();
  let total = 0;
  for (const one of lost) {
    const given = await db.transaction().execute(async (tx) => {
      const outcome = { error: "outcome unknown", code: "OUTCOME_UNKNOWN" };
      if (!(await finishExecution(tx, services, { id: one.id, status: "failed", outcome }))) return false;
      await recordWork(tx, services, {
        orgId: one.orgId,
        actorType: "ai_agent",
        actorId: one.apiKeyId,
        action: `mcp.tool.${one.toolName}`,
        result: "failure",
        errorMessage: outcome.error,
        resourceType: one.deviceId === null ? "tool_execution" : "device",
        resourceId: one.deviceId ?? one.id,
        details: {
          ...{ tool: one.toolName, toolExecutionId: one.id, elevationRequestId: one.elevationRequestId },
          ...{ actionDigest: one.actionDigest, errorCode: outcome.code },
          ...{ targets: one.toolTargets?.map(({ deviceId }) => deviceId) ?? [] },
          siteIds: one.toolTargets?.flatMap(({ siteId }) => siteId ?? []) ?? [],
        },
      });
      return true;
    });
    if (given) total += 1;
  }
  if (total > 0) services.wakeAuditWriter();
  return total;
}
