import type { Tx } from "#server/db/unit-of-work";

/** Decommissioned devices of a site that goes move to the organization's oldest other site; answers how many. */
export async function moveDecommissioned(tx: Tx, site: { id: string; orgId: string }, now: string): Promise<number> {
  const other = await tx
    .selectFrom("sites")
    .select("id")
    .where("orgId", "=", site.orgId)
    .where("id", "<>", site.id)
    .orderBy("createdAt")
    .orderBy("id")
    .executeTakeFirst();
  const moved = await tx
    .updateTable("devices")
    .set({ siteId: other?.id ?? null, updatedAt: now })
    .where("orgId", "=", site.orgId)
    .where("siteId", "=", site.id)
    .where("status", "=", "decommissioned")
    .executeTakeFirst();
  return Number(moved.numUpdatedRows);
}
