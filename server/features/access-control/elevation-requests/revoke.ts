import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { outsideSites } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { cancelActuation, isBeingEnded, isSevered, queueEnding } from "./commands.ts";
import { holdElevation, holdMachine } from "./hold.ts";
import type { LedgerActor } from "./ledger.ts";
import { markRevoked } from "./mark-revoked.ts";
import { getElevation, type ShownElevation } from "./queries.ts";
import { eventData } from "./told-of.ts";
import { isToolAction } from "./tool-action.ts";

type RevokeCall = typeof elevationRequests.revoke extends Endpoint<infer T> ? Call<T> : never;

/** Takes rights back, in every organization; the device is told to end them (docs/elevation-requests.md, "Ending"). */
export async function revoke(call: RevokeCall) {
  const seen = await getElevation(call, call.db, call.params.id);
  const { reason } = call.body;
  call.audit.note({
    resource: { type: "elevation_request", id: seen.id, name: seen.subjectUsername || null },
    owner: { orgId: seen.orgId },
    siteIds: [seen.siteId],
    details: { flowType: seen.flowType, deviceId: seen.deviceId, previousStatus: seen.status, reason },
  });
  return call.transaction(() => call.asSystem("decide elevations", (tx) => revokeHeld(call, tx, seen)));
}

async function revokeHeld(call: RevokeCall, tx: Tx, seen: ShownElevation) {
  const { services } = call;
  const machine = seen.deviceId === null ? undefined : await holdMachine(tx, services, seen.deviceId);
  const here = machine?.orgId === seen.orgId ? machine : undefined;
  const elevation = await holdElevation(tx, services, seen);
  if (!elevation) throw problem("NOT_FOUND");
  if (outsideSites(call, here?.siteId ?? null)) throw problem("SITE_ACCESS_DENIED");
  const { userId, name } = user(call);
  const by: LedgerActor = { type: "user", id: userId, name };
  const revoked = await markRevoked(tx, services, { elevation, by, reason: call.body.reason });
  if (!revoked) throw problem("INVALID_STATE", { details: { status: elevation.status } });
  await cancelActuation(tx, services, elevation.id);
  if (here && !isToolAction(revoked) && !isSevered(here) && !(await isBeingEnded(tx, elevation.id))) {
    await queueEnding(tx, services, { elevation: revoked, machine: here, cause: "revoked" });
    call.afterCommit(() => tellDevice(services, here.id));
  }
  call.emit("elevation.revoked", { orgId: revoked.orgId, siteId: here?.siteId ?? null, data: eventData(revoked) });
  const { id, status, enforcementStatus } = revoked;
  return { success: true as const, id, status, enforcementStatus };
}
