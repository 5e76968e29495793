import type { RoomHooks } from "#server/room-hooks";

/** What waits on a machine that is out of service, or is installed there, is nobody's concern any more. */
export const hooks: RoomHooks = {
  onDeviceGone: async ({ tx, orgId, deviceId, reason }) => {
    if (reason !== "device_decommissioned") return;
    await tx.deleteFrom("devicePatches").where("orgId", "=", orgId).where("deviceId", "=", deviceId).execute();
  },
  // Devices without a site have none.
  onSiteClearing: async ({ tx, orgId, siteId }) => {
    await tx.deleteFrom("devicePatches").where("orgId", "=", orgId).where("siteId", "=", siteId).execute();
  },
};
