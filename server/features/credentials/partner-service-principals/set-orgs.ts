import type { Tx } from "#server/db/unit-of-work";

interface Place {
  partnerId: string;
  principalId: string;
}

/** Replaces the organizations chosen for a principal. */
export async function setOrgs(tx: Tx, place: Place, orgIds: readonly string[]): Promise<void> {
  await tx.deleteFrom("partnerServicePrincipalOrgs").where("principalId", "=", place.principalId).execute();
  if (orgIds.length === 0) return;
  const rows = orgIds.map((orgId) => ({ ...place, orgId }));
  await tx.insertInto("partnerServicePrincipalOrgs").values(rows).execute();
}

/** Lets a principal reach an organization that it has created (docs/credentials.md, "Partner writes"). */
export async function addOrg(tx: Tx, place: Place, orgId: string): Promise<void> {
  await tx
    .insertInto("partnerServicePrincipalOrgs")
    .values({ ...place, orgId })
    .execute();
}
