import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import { endOpenCommands } from "./end-open-commands.ts";
import { insertCommand } from "./insert-command.ts";
import { lastTypes } from "./rules.ts";

/**
 * Every device of an organization that is being wound down is told to uninstall its agent, and nothing else any more
 * (docs/tenancy.md, "Winding down an organization"). Needs an unscoped transaction.
 */
export async function drainOrganization(
  tx: Tx,
  services: EventServices,
  { orgId, now }: { orgId: string; now: string },
): Promise<{ endedCommands: number; uninstalls: number }> {
  const except = lastTypes;
  const endedCommands = await endOpenCommands(tx, services, { orgId, except, reason: "tenant_offboarding", now });
  const devices = await tx
    .selectFrom("devices")
    .select(["id", "orgId", "hostname", "watchdogStatus"])
    .where("orgId", "=", orgId)
    .where("status", "not in", ["decommissioned", "pending"])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("deviceCommands")
            .select("deviceCommands.id")
            .whereRef("deviceCommands.deviceId", "=", "devices.id")
            .where("deviceCommands.type", "=", "self_uninstall")
            .where("deviceCommands.status", "in", ["pending", "sent"]),
        ),
      ),
    )
    .execute();
  for (const device of devices)
    await insertCommand(tx, services, { device, type: "self_uninstall", payload: { removeConfig: true } });
  return { endedCommands, uninstalls: devices.length };
}
