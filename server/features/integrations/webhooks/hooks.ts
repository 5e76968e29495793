import type { RoomHooks } from "#server/room-hooks";
import { pauseWebhooks } from "./give-up-waiting.ts";

export const hooks: RoomHooks = {
  onOrganizationClosed: ({ tx, orgId, now }) => pauseWebhooks(tx, [orgId], now),
  onOrganizationChurned: ({ tx, orgId, now }) => pauseWebhooks(tx, [orgId], now),
  onOrganizationDraining: ({ tx, orgId, now }) => pauseWebhooks(tx, [orgId], now),
  async onPartnerClosed({ tx, partnerId, now }) {
    const orgs = await tx.selectFrom("organizations").select("id").where("partnerId", "=", partnerId).execute();
    await pauseWebhooks(
      tx,
      orgs.map(({ id }) => id),
      now,
    );
  },
};
