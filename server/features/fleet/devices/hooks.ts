import type { RoomHooks } from "#server/room-hooks";
import { detachAvailability } from "./detach-availability.ts";
import { moveDecommissioned } from "./move-decommissioned.ts";
import { noteUpdating } from "./note-updating.ts";
import { severAgents } from "./sever-agents.ts";
import { noteUninstalled } from "./uninstalled.ts";

export const hooks: RoomHooks = {
  onOrganizationClosed: ({ tx, orgId, now }) => severAgents(tx, orgId, now),
  onOrganizationChurned: ({ tx, orgId, now }) => severAgents(tx, orgId, now),
  onDeviceMoved: ({ tx, deviceId: id, orgId }) => detachAvailability(tx, { id, orgId }),
  onCommandSent: noteUpdating,
  onCommandEnded: noteUninstalled,
  onLateResult: noteUninstalled,
  onSiteRemoved: async ({ tx, siteId, orgId, now }) => ({
    movedDevices: await moveDecommissioned(tx, { id: siteId, orgId }, now),
  }),
};
