import type { Tx } from "#server/db/unit-of-work";

/** Of a device that moves: what was removed from it stays with its organization, under the name it had. */
export async function detachRemoved(tx: Tx, { id, orgId }: { id: string; orgId: string }): Promise<void> {
  await tx
    .updateTable("deviceThreats")
    .set((eb) => ({
      deviceId: null,
      hostname: eb.selectFrom("devices").select("devices.hostname").where("devices.id", "=", id),
    }))
    .where("orgId", "=", orgId)
    .where("deviceId", "=", id)
    .where("rawStatus", "=", "removed")
    .execute();
}
