import { type Writing, writeCredentials } from "#server/access/write-credentials";

interface Grant {
  partnerId: string;
  membershipId: string;
  orgId: string;
}

/** A member of the partner who is confined to selected organizations reaches one more, which they have just made. */
export async function grantOrganization(call: Writing, grant: Grant): Promise<void> {
  await writeCredentials(call, (all) => all.insertInto("partnerUserOrgs").values(grant).execute());
}
