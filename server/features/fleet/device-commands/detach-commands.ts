import type { Tx } from "#server/db/unit-of-work";

/** A device that moves leaves its commands where they were given: they keep its name and lose its id. */
export async function detachCommands(tx: Tx, deviceId: string): Promise<void> {
  await tx.updateTable("deviceCommands").set({ deviceId: null }).where("deviceId", "=", deviceId).execute();
}
