import type { RoomHooks } from "#server/room-hooks";
import { endAccessOf } from "./end-access.ts";
import { revokeMembers } from "./revoke-members.ts";

export const hooks: RoomHooks = {
  onOrganizationClosed: ({ tx, orgId, reason, now }) => revokeMembers(tx, { orgId }, reason, now),
  onOrganizationDraining: ({ tx, orgId, now }) => revokeMembers(tx, { orgId }, "organization offboarding", now),
  onPartnerClosed: ({ tx, partnerId, reason, now }) => revokeMembers(tx, { partnerId }, reason, now),
  onUserRemoved: endAccessOf,
};
