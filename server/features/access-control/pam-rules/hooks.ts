import type { RoomHooks } from "#server/room-hooks";

/** The database deletes rules with their site; each is recorded, and none becomes one of the whole organization. */
export const hooks: RoomHooks = {
  async onSiteRemoved({ tx, orgId, siteId, record }) {
    const rules = tx
      .selectFrom("pamRules")
      .select(["id", "name"])
      .where("orgId", "=", orgId)
      .where("siteId", "=", siteId);
    const gone = await rules.orderBy("id").execute();
    for (const { id, name } of gone)
      record({ action: "pam.rule.delete", resource: { id, name }, owner: { orgId }, siteIds: [siteId] });
    return gone.length === 0 ? {} : { deletedPamRules: gone.length };
  },
};
