import { recordWork } from "#server/audit/record-work";
import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import { endUninstalls } from "#server/features/fleet/device-commands/end-uninstalls";
import { tellDevicesOf } from "#server/features/fleet/device-commands/signals";
import { type Uninstalls, uninstallsOf } from "#server/features/fleet/device-commands/uninstalls-of";
import { after, HOUR } from "#server/platform/clock";
import type { Services } from "#server/services";
import { notWindingDown } from "./wind-down.ts";

/** Ends the wind-downs whose devices have all settled, or whose time is over. Returns how many ended. */
export async function finishWindingDown(services: Services): Promise<number> {
  const orgs = await asSystem(services, "work commands")
    .selectFrom("organizations")
    .select("id")
    .where("status", "=", "offboarding")
    .execute();
  let ended = 0;
  for (const { id } of orgs) if (await finishOne(services, id)) ended += 1;
  return ended;
}

/** The one of this organization, if it is due: `offboarding` becomes `churned` by compare-and-swap. */
export async function finishOne(services: Services, orgId: string): Promise<boolean> {
  const ended = await asSystem(services, "work commands")
    .transaction()
    .execute((tx) => finish(tx, services, orgId));
  if (ended) {
    services.wakeAuditWriter();
    tellDevicesOf(services, orgId);
  }
  return ended;
}

async function finish(tx: Tx, services: Services, orgId: string): Promise<boolean> {
  const now = services.clock.now();
  const org = await tx
    .selectFrom("organizations")
    .select(["id", "name", "offboardingStartedAt"])
    .where("id", "=", orgId)
    .where("status", "=", "offboarding")
    .executeTakeFirst();
  if (!org) return false;
  const since = org.offboardingStartedAt ?? now;
  const uninstalls = await uninstallsOf(tx, orgId, since);
  const open = uninstalls.neverDelivered.length + uninstalls.deliveredUnconfirmed.length;
  const over = now >= after(since, services.config.offboardingDrainWindowHours * HOUR);
  if (open > 0 && !over) return false;
  const changed = await tx
    .updateTable("organizations")
    .set({ ...notWindingDown, status: "churned", updatedAt: now })
    .where("id", "=", orgId)
    .where("status", "=", "offboarding")
    .executeTakeFirst();
  if (changed.numUpdatedRows !== 1n) return false;
  await endUninstalls(tx, services, { orgId, only: undefined, reason: "offboarding_window_closed", now });
  await services.hooks.onOrganizationChurned({ tx, orgId, now });
  await record(tx, services, { org, uninstalls, forcedByDeadline: open > 0 });
  return true;
}

interface Ended {
  readonly org: { readonly id: string; readonly name: string };
  readonly uninstalls: Uninstalls;
  readonly forcedByDeadline: boolean;
}

async function record(tx: Tx, services: Services, { org, uninstalls, forcedByDeadline }: Ended): Promise<void> {
  await recordWork(tx, services, {
    orgId: org.id,
    action: "organization.offboarding_completed",
    resourceType: "organization",
    resourceId: org.id,
    resourceName: org.name,
    details: { ...uninstalls, forcedByDeadline, siteIds: [] },
  });
  const data = { organizationId: org.id, organizationName: org.name, status: "churned", changedFields: ["status"] };
  await emitEvents(tx, services, "organization.updated", [{ orgId: org.id, data }]);
}
