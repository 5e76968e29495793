import { WINDOW_MINUTES } from "#contract/core/elevation";
import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import type { Tx } from "#server/db/unit-of-work";
import { decideReport } from "#server/features/access-control/core/decision/decide-report";
import type { Call } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import type { HeldMachine } from "./hold.ts";
import { insertElevation } from "./insert-elevation.ts";
import { addLine, bySystem, type LedgerActor } from "./ledger.ts";
import { tellApprovers } from "./tell-approvers.ts";
import { eventData } from "./told-of.ts";

export type ReportCall = typeof elevationRequests.report extends Endpoint<infer T> ? Call<T> : never;

const told = {
  pending: "elevation.requested",
  auto_approved: "elevation.auto_approved",
  denied: "elevation.denied",
} as const;

interface Taking {
  /** Held by this transaction. */
  readonly machine: HeldMachine;
  /** Its organization and partner are. */
  readonly inUse: boolean;
  readonly reportDigest: string | null;
}

type Decision = Awaited<ReturnType<typeof decideReport>>;

/** Rules and policies are read in this transaction; whatever they cannot say is left to people. */
export async function decideAndStore(call: ReportCall, tx: Tx, { machine, inUse, reportDigest }: Taking) {
  const { services, body } = call;
  const decided = await judge(call, tx, machine);
  const decision = inUse || decided.verdict === "denied" ? decided : leftToPeople(decided);
  if (decision.verdict === "ignored") {
    const { pamRuleId, pamRuleName } = decision;
    call.audit.note({ action: "agent.elevation_request.ignored", details: { pamRuleId, pamRuleName } });
    call.foundIt();
    return { id: null, status: "ignored" as const };
  }
  const now = call.clock.now();
  const minutes = decision.durationMinutes ?? WINDOW_MINUTES;
  const opened = { approvedAt: now, expiresAt: after(now, minutes * MINUTE), enforcementStatus: "active" as const };
  const { matchedPolicyName, pamRuleId, pamRuleName, decisionSource, denialReason } = decision;
  const elevation = await insertElevation(tx, services, {
    ...{ orgId: machine.orgId, deviceId: machine.id, deviceHostname: machine.hostname, flowType: "uac_intercept" },
    ...reported(body),
    ...{
      status: decision.verdict,
      matchedPolicyName,
      pamRuleId,
      pamRuleName,
      decisionSource,
      denialReason,
      reportDigest,
    },
    ...(decision.verdict === "auto_approved" ? opened : {}),
  });
  const by: LedgerActor = { type: "agent", id: machine.id, name: machine.hostname };
  const asked = { pid: body.pid ?? null, observedAt: body.observed_at ?? null };
  await addLine(tx, services, elevation, { event: "requested", by, facts: asked });
  for (const evidence of decision.evidence)
    await addLine(tx, services, elevation, { event: "evidence_attached", by: bySystem, facts: { ...evidence } });
  const because = { matchedPolicyName, pamRuleId, pamRuleName, decisionSource };
  if (decision.verdict !== "pending") {
    const facts = { ...because, ...(denialReason !== null && { reason: denialReason }) };
    await addLine(tx, services, elevation, { event: decision.verdict, by: bySystem, facts });
  }
  call.audit.note({
    resource: { type: "elevation_request", id: elevation.id, name: elevation.subjectUsername },
    siteIds: [machine.siteId],
    details: { deviceId: machine.id, status: elevation.status, ...because },
  });
  call.emit(told[decision.verdict], { orgId: machine.orgId, siteId: machine.siteId, data: eventData(elevation) });
  if (decision.verdict === "pending") await tellApprovers(tx, services, machine);
  return { id: elevation.id, status: elevation.status };
}

const reported = (body: ReportCall["body"]) => ({
  subjectUsername: body.subject_username,
  targetExecutablePath: body.target_executable_path ?? null,
  targetExecutableHash: body.target_executable_hash ?? null,
  targetExecutableSigner: body.target_executable_signer ?? null,
  targetExecutableSignerThumbprint: body.target_executable_signer_thumbprint ?? null,
  parentImage: body.parent_image ?? null,
  commandLine: body.command_line ?? null,
});

function judge(call: ReportCall, tx: Tx, machine: HeldMachine): Promise<Decision> {
  const { body } = call;
  const { subjectUsername, ...target } = reported(body);
  const candidate = {
    ...{ orgId: machine.orgId, deviceId: machine.id, siteId: machine.siteId, flowType: "uac_intercept" as const },
    ...{ subjectUsername, ...target, subjectGroups: body.subject_groups ?? [] },
    ...{ targetPublisher: body.target_publisher ?? null, toolName: null, riskTier: null },
    receivedAt: call.clock.now(),
  };
  return decideReport(tx, candidate, call.services);
}

/** An organization that is not in use gets nothing approved or passed over. */
const leftToPeople = (decision: Decision): Decision => ({ ...decision, verdict: "pending", decisionSource: null });
