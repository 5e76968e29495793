import type { CommandSentEvent } from "#server/room-hooks";

/** An agent that was told to update itself is silent for a while; its next report ends that. */
export async function noteUpdating({ tx, deviceId, type, now }: CommandSentEvent): Promise<void> {
  if (type !== "update") return;
  await tx
    .updateTable("devices")
    .set({ status: "updating", updatedAt: now })
    .where("id", "=", deviceId)
    .where("status", "=", "online")
    .execute();
}
