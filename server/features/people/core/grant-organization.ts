import type { Tx } from "#server/db/unit-of-work";

interface Grant {
  partnerId: string;
  membershipId: string;
  orgId: string;
}

/** A member of the partner who is confined to selected organizations reaches one more. */
export async function grantOrganization(tx: Tx, grant: Grant): Promise<void> {
  await tx.insertInto("partnerUserOrgs").values(grant).execute();
}
