import { tools } from "#contract/core/tools";
import { claimCall } from "#server/features/access-control/elevation-requests/claim-call";
import { finishExecution } from "#server/features/access-control/tool-executions/store";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { digestOf, targetsOf } from "./digest.ts";
import { type Gated, judgeCall, keepCall, type Risky } from "./gate.ts";
import { holdsScope, keyOf } from "./key.ts";
import { noteCall, noteFailure } from "./note-call.ts";
import { resultOf, type ToolResult } from "./result.ts";
import { type Ran, runTool, type ToolCall, tierOf, undoable } from "./run-tool.ts";

/**
 * Calls a tool for a key (docs/mcp.md, "Approval"): reads run, and whatever else is asked is judged first, in the
 * transaction in which it runs or is kept for people.
 */
export async function callTool(call: Call, asked: ToolCall): Promise<ToolResult> {
  const { name, input } = asked;
  const [targets, riskTier] = [targetsOf(input), tierOf(asked)];
  const actionDigest = digestOf({ tool: name, input, targets });
  await noteCall(call, { name, targets, actionDigest, riskTier });
  const { scope } = tools[name];
  if (!holdsScope(keyOf(call), scope))
    throw problem("API_KEY_SCOPE_REQUIRED", { details: { required: [scope], available: keyOf(call).scopes } });
  const [deviceId] = targets;
  if (riskTier === 0) return told(call, await runTool(call, asked));
  if (deviceId === undefined) throw new Error("a tool that changes something names its device");
  const risky = { toolName: name, input, actionDigest, riskTier, deviceId };
  const ran = await undoable(call, (own) => gated(own, asked, risky));
  return "done" in ran ? ran.done : told(call, ran);
}

const REASON = "decide elevations";

async function gated(call: Call, asked: ToolCall, risky: Risky): Promise<ToolResult> {
  const judged = await call.asSystem(REASON, (tx) => judgeCall(call, tx, risky));
  if (judged.kind === "runs") return told(call, await runTool(call, asked));
  if (judged.kind === "known") {
    const { id, elevationRequestId, status } = judged.execution;
    return waiting(call, { toolExecutionId: id, elevationRequestId, status, riskTier: risky.riskTier });
  }
  if (judged.decision.verdict === "auto_approved") return approved(call, asked, { risky, gated: judged });
  const { executionId, elevation } = await call.asSystem(REASON, (tx) => keepCall(call, tx, { risky, gated: judged }));
  const kept = { toolExecutionId: executionId, elevationRequestId: elevation.id };
  if (judged.decision.verdict === "pending")
    return waiting(call, { ...kept, status: "pending", riskTier: risky.riskTier });
  call.audit.note({ result: "denied", details: { ...kept, errorCode: "TOOL_DENIED" } });
  const error = judged.decision.denialReason ?? "A rule of the organization denies this";
  return resultOf({ error, code: "TOOL_DENIED", details: kept }, { isError: true });
}

function waiting(
  call: Call,
  answer: { toolExecutionId: string; elevationRequestId: string; status: string; riskTier: number },
): ToolResult {
  call.audit.note({ details: { ...answer } });
  return resultOf(answer);
}

/**
 * A rule approves: it runs now, and what ran commits with the approval of it. It runs first, because who deletes a custom
 * field waits for devices in the other order.
 */
async function approved(
  call: Call,
  asked: ToolCall,
  kept: { risky: Risky; gated: Gated & { kind: "decided" } },
): Promise<ToolResult> {
  const ran = await runTool(call, asked);
  await call.asSystem(REASON, async (tx) => {
    const { executionId: id, elevation } = await keepCall(call, tx, kept);
    const at = { id, orgId: elevation.orgId, elevationRequestId: elevation.id };
    if (!(await claimCall(tx, call.services, at))) throw new Error("what was approved just now cannot be taken on");
    await finishExecution(tx, call.services, { id, ...outcomeOf(ran) });
    call.audit.note({ details: { toolExecutionId: id, elevationRequestId: elevation.id } });
  });
  noteAgent(call);
  return told(call, ran);
}

/** What stands of a run beside its request. */
export const outcomeOf = (ran: Ran) =>
  "done" in ran
    ? { status: "completed" as const, outcome: { result: resultOf(ran.done).structuredContent } as never }
    : { status: "failed" as const, outcome: ran.failed as never };

/** What was approved is done by the model's hand. */
export const noteAgent = (call: Call): void => call.audit.note({ actor: { type: "ai_agent", id: keyOf(call).keyId } });

export function told(call: Call, ran: Ran): ToolResult {
  if ("done" in ran) return resultOf(ran.done);
  noteFailure(call, ran.failed.code);
  return resultOf(ran.failed, { isError: true });
}
