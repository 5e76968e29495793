import type { RoomHooks } from "#server/room-hooks";
import { detachCommands } from "./detach-commands.ts";
import { drainOrganization } from "./drain-organization.ts";
import { endOpenCommands } from "./end-open-commands.ts";

const cancelled = (count: number) => (count === 0 ? {} : { endedCommands: count });

export const hooks: RoomHooks = {
  onDeviceGone: async ({ tx, services, deviceId, reason, now }) =>
    cancelled(await endOpenCommands(tx, services, { deviceId, reason, now })),
  onDeviceMoved: async ({ tx, services, deviceId, now }) => {
    const ended = await endOpenCommands(tx, services, { deviceId, reason: "device_moved", now });
    await detachCommands(tx, deviceId);
    return cancelled(ended);
  },
  onOrganizationDraining: ({ tx, services, orgId, now }) => drainOrganization(tx, services, { orgId, now }),
};
