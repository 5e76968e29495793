import type { RoomHooks } from "#server/room-hooks";

/** The database deletes a site's contacts with it. */
export const hooks: RoomHooks = {
  async onSiteRemoved({ tx, siteId }) {
    const { n } = await tx
      .selectFrom("contacts")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("siteId", "=", siteId)
      .executeTakeFirstOrThrow();
    return { deletedContacts: Number(n) };
  },
};
