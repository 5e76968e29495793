import type { RoomHooks } from "#server/room-hooks";

/** The database deletes the keys that pin devices to a site with it. */
export const hooks: RoomHooks = {
  async onSiteRemoved({ tx, siteId }) {
    const { n } = await tx
      .selectFrom("enrollmentKeys")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("siteId", "=", siteId)
      .executeTakeFirstOrThrow();
    return { deletedEnrollmentKeys: Number(n) };
  },
};
