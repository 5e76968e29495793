import { atSite } from "#server/audit/at-site";
import { recordWork } from "#server/audit/record-work";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import { followRequest } from "#server/features/access-control/tool-executions/store";
import { settleNotifications } from "#server/features/people/notifications/settle";
import type { EventServices } from "#server/room-hooks";
import { type HeldElevation, heldColumns } from "./columns.ts";
import { addLine, bySystem } from "./ledger.ts";
import { leadingTo } from "./rules.ts";
import { linkTo } from "./tell-approvers.ts";
import { eventData, siteOf } from "./told-of.ts";
import { isToolAction } from "./tool-action.ts";

export type ExpiryCause = "stale" | "window" | "moved";

interface Expiring {
  readonly elevation: HeldElevation;
  readonly cause: ExpiryCause;
  readonly enforcementStatus: "none" | "cleanup_pending";
}

/**
 * Ends a request that this transaction holds, with its line, entry and event. The row as it is then; undefined when it
 * had ended before. Needs an unscoped transaction; call `wakeAuditWriter` after it.
 */
export async function expire(
  tx: Tx,
  services: EventServices,
  { elevation, cause, enforcementStatus }: Expiring,
): Promise<HeldElevation | undefined> {
  const now = services.clock.now();
  const ended = await tx
    .updateTable("elevationRequests")
    .set({
      status: "expired",
      expiredAt: now,
      enforcementStatus,
      cleanupDeviceId: enforcementStatus === "none" ? null : elevation.deviceId,
    })
    .where("id", "=", elevation.id)
    .where("status", "=", elevation.status)
    .where("status", "in", leadingTo("expired"))
    .returning(heldColumns)
    .executeTakeFirst();
  if (!ended) return undefined;
  if (isToolAction(ended)) await followRequest(tx, services, ended, cause === "moved" ? "rejected" : "expired");
  await addLine(tx, services, ended, { event: "expired", by: bySystem, facts: { cause, from: elevation.status } });
  await settleNotifications(tx, linkTo(ended.id), now);
  const siteId = await siteOf(tx, ended);
  await recordWork(tx, services, {
    orgId: ended.orgId,
    action: "pam.elevation_request.expired",
    resourceType: "elevation_request",
    resourceId: ended.id,
    resourceName: ended.subjectUsername || null,
    details: {
      ...{ cause, from: elevation.status, flowType: ended.flowType, deviceId: ended.deviceId },
      ...atSite(siteId),
    },
  });
  await emitEvents(tx, services, "elevation.expired", [{ orgId: ended.orgId, siteId, data: eventData(ended) }]);
  return ended;
}
