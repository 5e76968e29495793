import type { RoomHooks } from "#server/room-hooks";

export const hooks: RoomHooks = {
  /** Its new organization has not heard of any address yet. */
  onDeviceMoved: async ({ tx, deviceId, orgId }) => {
    await tx.deleteFrom("deviceSourceIps").where("orgId", "=", orgId).where("deviceId", "=", deviceId).execute();
  },
};
