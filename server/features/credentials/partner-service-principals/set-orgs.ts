import type { Tx } from "#server/db/unit-of-work";

interface Place {
  partnerId: string;
  principalId: string;
}

/**
 * Replaces the organizations chosen for a principal. Those that stay are not touched: the time since when one is
 * reached is kept.
 */
export async function setOrgs(tx: Tx, place: Place, orgIds: readonly string[]): Promise<void> {
  let dropped = tx.deleteFrom("partnerServicePrincipalOrgs").where("principalId", "=", place.principalId);
  if (orgIds.length > 0) dropped = dropped.where("orgId", "not in", orgIds);
  await dropped.execute();
  if (orgIds.length === 0) return;
  await tx
    .insertInto("partnerServicePrincipalOrgs")
    .values(orgIds.map((orgId) => ({ ...place, orgId })))
    .onConflict((conflict) => conflict.columns(["partnerId", "principalId", "orgId"]).doNothing())
    .execute();
}

/** Lets a principal reach an organization that it has created (docs/credentials.md, "Partner writes"). */
export async function addOrg(tx: Tx, place: Place, orgId: string): Promise<void> {
  await tx
    .insertInto("partnerServicePrincipalOrgs")
    .values({ ...place, orgId })
    .execute();
}
