import type { RoomHooks } from "#server/room-hooks";
import { noteUsed } from "./note-used.ts";
import { revokeKeysOfPartner } from "./revoke-keys-of-partner.ts";

export const hooks: RoomHooks = {
  onPartnerClosed: ({ tx, partnerId, now }) => revokeKeysOfPartner(tx, partnerId, now),
  onKeyUsed: noteUsed,
};
