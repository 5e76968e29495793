import type { RoomHooks } from "#server/room-hooks";
import { noteCommandEnded, noteLateResult } from "./command-ended.ts";
import { endWithDevice } from "./end-with-device.ts";

export const hooks: RoomHooks = {
  onDeviceGone: ({ tx, services, deviceId, orgId, reason }) =>
    endWithDevice(tx, services, { deviceId, orgId, reason, leaves: false }),
  onDeviceMoved: ({ tx, services, deviceId, orgId }) =>
    endWithDevice(tx, services, { deviceId, orgId, reason: "device_moved", leaves: true }),
  onCommandEnded: noteCommandEnded,
  onLateResult: noteLateResult,
};
