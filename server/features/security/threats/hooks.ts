import type { RoomHooks } from "#server/room-hooks";
import { detachRemoved } from "./detach-removed.ts";

export const hooks: RoomHooks = {
  onDeviceMoved: ({ tx, deviceId: id, orgId }) => detachRemoved(tx, { id, orgId }),
};
