import type { RoomHooks } from "#server/room-hooks";
import { detachLog, leaveGroups } from "./leave.ts";

const left = (groups: number) => (groups === 0 ? {} : { leftGroups: groups });

export const hooks: RoomHooks = {
  /** A quarantined device stays where it is: it can come back. */
  onDeviceGone: async ({ tx, services, deviceId, orgId, reason }) =>
    reason === "device_decommissioned" ? left(await leaveGroups(tx, services, { deviceId, orgId })) : {},
  onDeviceMoved: async ({ tx, services, deviceId, orgId }) => {
    const groups = await leaveGroups(tx, services, { deviceId, orgId });
    await detachLog(tx, { deviceId, orgId });
    return left(groups);
  },
  onDeviceResited: async ({ tx, services, deviceId, orgId }) =>
    void (await leaveGroups(tx, services, { deviceId, orgId, ofOtherSites: true })),
};
