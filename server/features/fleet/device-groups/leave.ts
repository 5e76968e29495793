import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import { writeLog } from "./members.ts";

interface Leaving {
  readonly deviceId: string;
  readonly orgId: string;
  /** Only groups of sites at which it does not stand. */
  readonly ofOtherSites?: boolean;
}

/**
 * Takes a device out of the groups of its organization, pinned or not (docs/device-groups.md, "Devices that leave").
 * Whoever adds it meanwhile waits for its row, and then finds it gone. Answers how many groups.
 */
export async function leaveGroups(
  tx: Tx,
  services: Pick<EventServices, "clock" | "random">,
  { deviceId, orgId, ofOtherSites = false }: Leaving,
): Promise<number> {
  const device = await tx
    .selectFrom("devices")
    .select(["id", "hostname", "displayName", "siteId"])
    .where("id", "=", deviceId)
    .executeTakeFirst();
  if (!device) return 0;
  let members = tx
    .selectFrom("deviceGroupMembers")
    .innerJoin("deviceGroups", "deviceGroups.id", "deviceGroupMembers.groupId")
    .select("deviceGroups.id")
    .where("deviceGroupMembers.orgId", "=", orgId)
    .where("deviceGroupMembers.deviceId", "=", deviceId);
  if (ofOtherSites)
    members = members.where((eb) =>
      eb.and([eb("deviceGroups.siteId", "is not", null), eb("deviceGroups.siteId", "is distinct from", device.siteId)]),
    );
  const ids = (await members.execute()).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const gone = await tx
    .deleteFrom("deviceGroupMembers")
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .where("groupId", "in", ids)
    .returning("groupId")
    .execute();
  for (const { groupId } of gone)
    await writeLog(tx, services, { id: groupId, orgId }, [device], { action: "removed", reason: "manual" });
  return gone.length;
}

/** The log of the organization that a device leaves keeps its name, and no longer leads to it. */
export async function detachLog(tx: Tx, { deviceId, orgId }: Leaving): Promise<void> {
  await tx
    .updateTable("deviceGroupLog")
    .set({ deviceId: null })
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .execute();
}
