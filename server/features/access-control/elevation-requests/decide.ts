import { WINDOW_MINUTES } from "#contract/core/elevation";
import type { Tx } from "#server/db/unit-of-work";
import { user } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";
import { type Assurance, isGrace, type RespondCall, tierToday } from "./assure.ts";
import { type HeldElevation, heldColumns } from "./columns.ts";
import type { HeldMachine } from "./hold.ts";
import { addLine, type LedgerActor } from "./ledger.ts";
import { CRITICAL, leadingTo } from "./rules.ts";
import { eventData } from "./told-of.ts";
import { decideCall, isToolAction } from "./tool-action.ts";

const byCaller = (call: RespondCall): LedgerActor => {
  const { userId, name } = user(call);
  return { type: "user", id: userId, name };
};

interface Approving {
  readonly elevation: HeldElevation;
  readonly machine: HeldMachine;
  readonly assurance: Assurance;
}

/** The window begins now. The request is held, pending and young enough. */
export async function approve(
  call: RespondCall,
  tx: Tx,
  { elevation, machine, assurance }: Approving,
): Promise<HeldElevation> {
  const now = call.clock.now();
  const riskTier = await tierToday(tx, elevation, now);
  // It became critical after the proof was judged.
  if (riskTier === CRITICAL && !assurance.reauthenticated) throw problem("reauth_required");
  const minutes = call.body.durationMinutes ?? elevation.requestedDurationMinutes ?? WINDOW_MINUTES;
  const by = byCaller(call);
  const approved = await decided(tx, elevation, {
    status: "approved",
    riskTier,
    approvedAt: now,
    approvedBy: by.id,
    approvedByName: by.name,
    expiresAt: after(now, minutes * MINUTE),
    decidedAssuranceLevel: assurance.level,
    decidedVia: assurance.via,
    enforcementStatus: isToolAction(elevation) ? "none" : "pending_dispatch",
  });
  await decideCall(tx, call.services, approved, "approved");
  const grace = isGrace(riskTier, assurance) ? { graceDowngrade: true } : {};
  const { reason } = call.body;
  const proven = { assuranceLevel: assurance.level, reauthenticated: assurance.reauthenticated, ...grace };
  const facts = { durationMinutes: minutes, ...proven, ...(reason && { reason }) };
  await addLine(tx, call.services, approved, { event: "approved", by, facts });
  call.audit.note({ details: { riskTier, durationMinutes: minutes, expiresAt: approved.expiresAt, ...proven } });
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
