import { type Writing, writeCredentials } from "#server/access/write-credentials";

interface Place {
  partnerId: string;
  principalId: string;
}

/**
 * Replaces the organizations chosen for a principal that the caller holds. Those that stay are not touched: the time
 * since when one is reached is kept.
 */
export const setOrgs = (call: Writing, place: Place, orgIds: readonly string[]): Promise<void> =>
  writeCredentials(call, async (all) => {
    const dropped = all
      .deleteFrom("partnerServicePrincipalOrgs")
      .where("partnerId", "=", place.partnerId)
      .where("principalId", "=", place.principalId);
    if (orgIds.length === 0) return void (await dropped.execute());
    await dropped.where("orgId", "not in", orgIds).execute();
    await all
      .insertInto("partnerServicePrincipalOrgs")
      .values(orgIds.map((orgId) => ({ ...place, orgId })))
      .onConflict((conflict) => conflict.columns(["partnerId", "principalId", "orgId"]).doNothing())
      .execute();
  });

/** Lets a principal reach an organization that it has created (docs/credentials.md, "Partner writes"). */
export async function addOrg(call: Writing, place: Place, orgId: string): Promise<void> {
  const row = { ...place, orgId };
  await writeCredentials(call, (all) => all.insertInto("partnerServicePrincipalOrgs").values(row).execute());
}
