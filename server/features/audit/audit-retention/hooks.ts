import type { RoomHooks } from "#server/room-hooks";

export const RETENTION_DAYS_DEFAULT = 365;

/** Every organization has a retention from its first moment on. */
export const hooks: RoomHooks = {
  async onOrganizationCreated({ tx, orgId, now }) {
    await tx
      .insertInto("auditRetention")
      .values({ orgId, retentionDays: RETENTION_DAYS_DEFAULT, lastCleanupAt: null, createdAt: now, updatedAt: now })
      .execute();
  },
};
