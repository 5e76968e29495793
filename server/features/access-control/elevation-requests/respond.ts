import { outsideSites } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { settleNotifications } from "#server/features/people/notifications/settle";
import { user } from "#server/http/call";
import { after } from "#server/platform/clock";
import { problem } from "#server/problem";
import { assure, type RespondCall } from "./assure.ts";
import type { HeldElevation } from "./columns.ts";
import { approve, deny } from "./decide.ts";
import { expire } from "./expire.ts";
import { holdElevation, holdMachine, refuseOutOfService, refuseOutOfUse } from "./hold.ts";
import { getElevation, type ShownElevation } from "./queries.ts";
import type { Proven } from "./standing.ts";
import { linkTo } from "./tell-approvers.ts";
import { notPending, waitsMs } from "./tool-action.ts";

/**
 * Decides a request, once: the first decision counts (docs/elevation-requests.md, "Deciding"). A denial works in every
 * organization and is held up by nothing that an approval must prove.
 */
export async function respond(call: RespondCall) {
  const seen = await getElevation(call, call.db, call.params.id);
  const { decision, reason } = call.body;
  call.audit.note({
    action: decision === "approve" ? "pam.elevation_request.approve" : "pam.elevation_request.deny",
    resource: { type: "elevation_request", id: seen.id, name: seen.subjectUsername || null },
    owner: { orgId: seen.orgId },
    siteIds: [seen.siteId],
    details: { flowType: seen.flowType, deviceId: seen.deviceId, riskTier: seen.riskTier, ...(reason && { reason }) },
  });
  if (seen.status !== "pending") throw notPending(seen);
  const proven = decision === "approve" ? await assure(call, seen) : undefined;
  const decided = await call.transaction(() =>
    call.asSystem("decide elevations", (tx) => decideHeld(call, tx, { seen, proven })),
  );
  const { id, status, enforcementStatus } = decided;
  if (status === "expired") throw notPending(decided);
  return { success: true as const, id, status, enforcementStatus };
}

interface Deciding {
  readonly seen: ShownElevation;
  /** Of an approval. */
  readonly proven: Proven | undefined;
}

async function decideHeld(call: RespondCall, tx: Tx, { seen, proven }: Deciding): Promise<HeldElevation> {
  if (proven) await refuseOutOfUse(tx, call.services, seen.orgId);
  const machine = seen.deviceId === null ? undefined : await holdMachine(tx, call.services, seen.deviceId);
  const here = machine?.orgId === seen.orgId ? machine : undefined;
  const elevation = await holdElevation(tx, call.services, seen);
  if (!elevation) throw problem("NOT_FOUND");
  if (outsideSites(call, here?.siteId ?? null)) throw problem("SITE_ACCESS_DENIED");
  if (elevation.status !== "pending") throw notPending(elevation);
  if (elevation.requestedAt <= after(call.clock.now(), -waitsMs(call.config, elevation)))
    return endStale(call, tx, elevation);
  await settleNotifications(tx, linkTo(elevation.id), call.clock.now());
  if (!proven) return deny(call, tx, { elevation, siteId: here?.siteId ?? null });
  if (!here) throw problem("NOT_FOUND");
  refuseOutOfService(here);
  return approve(call, tx, { elevation, machine: here, proven });
}

/** Too late: it ends now, which stays although the call is refused. */
async function endStale(call: RespondCall, tx: Tx, elevation: HeldElevation): Promise<HeldElevation> {
  const ended = await expire(tx, call.services, { elevation, cause: "stale", enforcementStatus: "none" });
  if (!ended) throw problem("INVALID_STATE", { details: { status: elevation.status } });
  call.audit.note({ result: "failure", details: { status: "expired", decidedBy: user(call).userId } });
  return ended;
}
