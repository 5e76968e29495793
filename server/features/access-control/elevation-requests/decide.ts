import { WINDOW_MINUTES } from "#contract/core/elevation";
import type { Tx } from "#server/db/unit-of-work";
import { user } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";
import type { RespondCall } from "./assure.ts";
import { type HeldElevation, heldColumns } from "./columns.ts";
import type { HeldMachine } from "./hold.ts";
import { addLine, type LedgerActor } from "./ledger.ts";
import { leadingTo } from "./rules.ts";
import { isGrace, levelOf, type Proven, readStanding, refuseUnderAssured } from "./standing.ts";
import { eventData } from "./told-of.ts";
import { decideCall, isToolAction } from "./tool-action.ts";

const byCaller = (call: RespondCall) => {
  const { userId, name } = user(call);
  return { type: "user", id: userId, name } as const satisfies LedgerActor;
};

interface Approving {
  readonly elevation: HeldElevation;
  readonly machine: HeldMachine;
  readonly proven: Proven;
}

/** The window begins now. The request is held, pending and young enough. */
export async function approve(
  call: RespondCall,
  tx: Tx,
  { elevation, machine, proven }: Approving,
): Promise<HeldElevation> {
  const now = call.clock.now();
  const by = byCaller(call);
  // Tier, policy and devices may be others than when the proof was judged.
  const standing = await readStanding(tx, { elevation, userId: by.id, now });
  refuseUnderAssured(standing, proven);
  const { tier: riskTier } = standing;
  const assuranceLevel = levelOf(proven);
  const minutes = call.body.durationMinutes ?? elevation.requestedDurationMinutes ?? WINDOW_MINUTES;
  const approved = await decided(tx, elevation, {
    status: "approved",
    riskTier,
    approvedAt: now,
    approvedBy: by.id,
    approvedByName: by.name,
    expiresAt: after(now, minutes * MINUTE),
    decidedAssuranceLevel: assuranceLevel,
    decidedVia: proven.device ? "webauthn_platform" : "session_tap",
    enforcementStatus: isToolAction(elevation) ? "none" : "pending_dispatch",
  });
  await decideCall(tx, call.services, approved, "approved");
  const { reason } = call.body;
  const evidence = {
    ...{ assuranceLevel, reauthenticated: proven.reauthenticated },
    ...(proven.device && { approverDeviceId: proven.device.deviceId }),
    ...(isGrace(standing, proven) && { graceDowngrade: true }),
  };
  const facts = { durationMinutes: minutes, ...evidence, ...(reason && { reason }) };
  await addLine(tx, call.services, approved, { event: "approved", by, facts });
  call.audit.note({ details: { riskTier, durationMinutes: minutes, expiresAt: approved.expiresAt, ...evidence } });
  call.emit("elevation.approved", { orgId: approved.orgId, siteId: machine.siteId, data: eventData(approved) });
  return approved;
}

export async function deny(
  call: RespondCall,
  tx: Tx,
  { elevation, siteId }: { elevation: HeldElevation; siteId: string | null },
): Promise<HeldElevation> {
  const by = byCaller(call);
  const { reason = null } = call.body;
  const denied = await decided(tx, elevation, {
    status: "denied",
    deniedBy: by.id,
    deniedByName: by.name,
    denialReason: reason,
  });
  await decideCall(tx, call.services, denied, "rejected");
  await addLine(tx, call.services, denied, { event: "denied", by, facts: reason === null ? {} : { reason } });
  call.emit("elevation.denied", { orgId: denied.orgId, siteId, data: eventData(denied) });
  return denied;
}

type Change = { status: "approved" | "denied" } & Record<string, unknown>;

/** A compare-and-swap, although the row is held. */
async function decided(tx: Tx, { id }: HeldElevation, change: Change): Promise<HeldElevation> {
  const row = await tx
    .updateTable("elevationRequests")
    .set({ ...change, decisionSource: "human" })
    .where("id", "=", id)
    .where("status", "in", leadingTo(change.status))
    .returning(heldColumns)
    .executeTakeFirst();
  if (!row) throw problem("INVALID_STATE");
  return row;
}
