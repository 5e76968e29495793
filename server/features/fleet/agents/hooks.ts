import type { RoomHooks } from "#server/room-hooks";
import { tellOfReplaced } from "./replaced-tokens.ts";

export const hooks: RoomHooks = {
  onReplacedToken: tellOfReplaced,
  /** Its new organization has not heard of any address yet. */
  onDeviceMoved: async ({ tx, deviceId, orgId }) => {
    await tx.deleteFrom("deviceSourceIps").where("orgId", "=", orgId).where("deviceId", "=", deviceId).execute();
  },
};
