import type { RoomHooks } from "#server/room-hooks";
import { noteExpired, noteUsed } from "./note-key.ts";
import { revokeKeysOfOrganization, revokeKeysOfPartner } from "./revoke-keys-of-tenant.ts";

export const hooks: RoomHooks = {
  onOrganizationClosed: ({ tx, orgId, now }) => revokeKeysOfOrganization(tx, orgId, now),
  onOrganizationDraining: ({ tx, orgId, now }) => revokeKeysOfOrganization(tx, orgId, now),
  onPartnerClosed: ({ tx, partnerId, now }) => revokeKeysOfPartner(tx, partnerId, now),
  onKeyUsed: noteUsed,
  onKeyExpired: noteExpired,
};
