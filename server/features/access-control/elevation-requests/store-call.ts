import { WINDOW_MINUTES } from "#contract/core/elevation";
import type { Json } from "#server/db/column-types";
import type { Tx } from "#server/db/unit-of-work";
import type { Decision } from "#server/features/access-control/core/decision/decision";
import { insertExecution } from "#server/features/access-control/tool-executions/store";
import type { Call } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import type { HeldElevation } from "./columns.ts";
import type { HeldMachine } from "./hold.ts";
import { insertElevation } from "./insert-elevation.ts";
import { addLine, bySystem } from "./ledger.ts";
import { tellApprovers } from "./tell-approvers.ts";
import { eventData } from "./told-of.ts";

const told = {
  pending: "elevation.requested",
  auto_approved: "elevation.auto_approved",
  denied: "elevation.denied",
} as const;

const executionOf = { pending: "pending", auto_approved: "approved", denied: "rejected" } as const;

/** What a key asked of a tool, and who it is. */
export interface AskedCall {
  readonly executionId: string;
  readonly key: { readonly id: string; readonly label: string; readonly issuedBy: string | null };
  readonly toolName: string;
  readonly input: Json;
  readonly actionDigest: string;
  readonly riskTier: number;
  /** The one device that it concerns, held by this transaction. */
  readonly machine: HeldMachine;
  readonly decision: Decision & { readonly verdict: keyof typeof told };
}

/**
 * Stores the call of a tool as a request, with what was decided of it and the execution that follows it
 * (docs/mcp.md, "Approval"). Needs an unscoped transaction.
 */
export async function storeCall(call: Call, tx: Tx, asked: AskedCall): Promise<HeldElevation> {
  const { services } = call;
  const { machine, decision, key, riskTier, toolName, actionDigest } = asked;
  const { verdict, pamRuleId, pamRuleName, decisionSource, denialReason } = decision;
  const now = call.clock.now();
  const minutes = decision.durationMinutes ?? WINDOW_MINUTES;
  const elevation = await insertElevation(tx, services, {
    ...{ orgId: machine.orgId, deviceId: machine.id, deviceHostname: machine.hostname, flowType: "ai_tool_action" },
    ...{ status: verdict, subjectUsername: `key:${key.id}`, subjectUserId: key.issuedBy, requestedByName: key.label },
    ...{ toolName, toolInput: asked.input, actionDigest, riskTier },
    toolTargets: [{ deviceId: machine.id, hostname: machine.hostname, siteId: machine.siteId }],
    ...{ pamRuleId, pamRuleName, decisionSource, denialReason },
    ...(verdict === "auto_approved" ? { approvedAt: now, expiresAt: after(now, minutes * MINUTE) } : {}),
  });
  const { id, orgId } = elevation;
  const status = executionOf[verdict];
  await insertExecution(tx, services, {
    ...{ id: asked.executionId, orgId, elevationRequestId: id, apiKeyId: key.id, status },
  });
  const by = { type: "api_key", id: key.id, name: key.label } as const;
  const facts = { toolExecutionId: asked.executionId, toolName, riskTier };
  await addLine(tx, services, elevation, { event: "requested", by, facts });
  for (const evidence of decision.evidence)
    await addLine(tx, services, elevation, { event: "evidence_attached", by: bySystem, facts: { ...evidence } });
  if (verdict !== "pending") {
    const because = { pamRuleId, pamRuleName, decisionSource, ...(denialReason !== null && { reason: denialReason }) };
    await addLine(tx, services, elevation, { event: verdict, by: bySystem, facts: because });
  }
  call.emit(told[verdict], { orgId, siteId: machine.siteId, data: eventData(elevation) });
  if (verdict === "pending") await tellApprovers(tx, services, machine);
  return elevation;
}
