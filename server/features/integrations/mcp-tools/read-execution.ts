import { isToolName, tools } from "#contract/core/tools";
import { executions } from "#server/features/access-control/tool-executions/store";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdsScope, keyOf } from "./key.ts";

/** A call of this same key, which still holds the scope of its tool; any other is not there (docs/mcp.md, "Approval"). */
export async function readExecution(call: Call, { toolExecutionId }: { toolExecutionId: string }) {
  const who = keyOf(call);
  const row = await executions(call.db)
    .where("toolExecutions.id", "=", toolExecutionId)
    .where("toolExecutions.apiKeyId", "=", who.keyId)
    .executeTakeFirst();
  const tool = row?.toolName ?? "";
  if (!row || !isToolName(tool) || !holdsScope(who, tools[tool].scope)) throw problem("NOT_FOUND");
  const { result = null, error = null, code = null } = (row.outcome ?? {}) as Record<string, unknown>;
  return {
    toolExecutionId: row.id,
    elevationRequestId: row.elevationRequestId,
    ...{ tool, status: row.status, riskTier: row.riskTier, result, error, code },
    ...{ createdAt: row.createdAt, updatedAt: row.updatedAt },
  };
}
