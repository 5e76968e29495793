import { recordWork } from "#server/audit/record-work";
import { asSystem } from "#server/db/as-system";
import { type Execution, finishExecution } from "#server/features/access-control/tool-executions/store";
import type { Problem } from "#server/problem";
import type { Services } from "#server/services";

/** It did not run, or nothing of it stayed. */
export async function endUnrun(
  services: Services,
  execution: Execution,
  { told, isRecorded }: { told: Problem; isRecorded: boolean },
): Promise<void> {
  const outcome = { error: told.message, code: told.code };
  const { id, orgId, toolName, toolTargets, actionDigest, elevationRequestId } = execution;
  const ended = await asSystem(services, "decide elevations")
    .transaction()
    .execute(async (tx) => {
      if (!(await finishExecution(tx, services, { id, status: "failed", outcome })) || isRecorded) return false;
      await recordWork(tx, services, {
        ...{ orgId, actorType: "ai_agent", actorId: execution.apiKeyId, action: `mcp.tool.${toolName}` },
        ...{ result: told.status === 401 || told.status === 403 ? "denied" : "failure", errorMessage: told.message },
        resourceType: "device",
        resourceId: execution.deviceId,
        details: {
          ...{ tool: toolName, targets: toolTargets?.map(({ deviceId }) => deviceId) ?? [], actionDigest },
          ...{ toolExecutionId: id, elevationRequestId, errorCode: told.code },
          siteIds: toolTargets?.flatMap(({ siteId }) => siteId ?? []) ?? [],
        },
      });
      return true;
    });
  if (ended) services.wakeAuditWriter();
}
