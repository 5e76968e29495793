import type { RoomHooks } from "#server/room-hooks";
import { moveDecommissioned } from "./move-decommissioned.ts";
import { severAgents } from "./sever-agents.ts";

export const hooks: RoomHooks = {
  onOrganizationClosed: ({ tx, orgId, now }) => severAgents(tx, orgId, now),
  onOrganizationChurned: ({ tx, orgId, now }) => severAgents(tx, orgId, now),
  onSiteRemoved: async ({ tx, siteId, orgId, now }) => ({
    movedDevices: await moveDecommissioned(tx, { id: siteId, orgId }, now),
  }),
};
