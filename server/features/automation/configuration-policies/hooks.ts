import type { RoomHooks } from "#server/room-hooks";
import { unassign } from "./unassign.ts";

const noted = (unassigned: number) => (unassigned === 0 ? {} : { removedPolicyAssignments: unassigned });

export const hooks: RoomHooks = {
  /** A quarantined device keeps what it is assigned: it can come back. */
  onDeviceGone: async ({ tx, deviceId, orgId, reason }) =>
    reason === "device_decommissioned" ? noted(await unassign(tx, { orgId, deviceId })) : {},
  /** What it was assigned was said of it as a device of the old organization. */
  onDeviceMoved: async ({ tx, deviceId, orgId }) => noted(await unassign(tx, { orgId, deviceId })),
  onSiteRemoved: async ({ tx, siteId, orgId }) => noted(await unassign(tx, { orgId, siteId })),
};
