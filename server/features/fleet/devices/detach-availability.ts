import type { Tx } from "#server/db/unit-of-work";

/** What was written down of a device that moves stays with its organization, under the name it had. */
export async function detachAvailability(tx: Tx, { id, orgId }: { id: string; orgId: string }): Promise<void> {
  await tx
    .updateTable("deviceAvailability")
    .set((eb) => ({
      deviceId: null,
      hostname: eb.selectFrom("devices").select("devices.hostname").where("devices.id", "=", id),
    }))
    .where("orgId", "=", orgId)
    .where("deviceId", "=", id)
    .execute();
}
