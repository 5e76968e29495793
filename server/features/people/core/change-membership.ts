import type { Tx } from "#server/db/unit-of-work";

/** One membership, accepted or not. */
export interface MembershipKey {
  readonly kind: "partner" | "organization";
  readonly membershipId: string;
}

const tableOf = ({ kind }: Pick<MembershipKey, "kind">) =>
  kind === "partner" ? ("partnerUsers" as const) : ("organizationUsers" as const);

/** The person takes up what they were invited to; false when they have already, or it is gone. */
export async function acceptMembership(tx: Tx, key: MembershipKey, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable(tableOf(key))
    .set({ acceptedAt: now, updatedAt: now })
    .where("id", "=", key.membershipId)
    .where("acceptedAt", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Whoever invites last stands for the invitation; false when it was accepted meanwhile, or is gone. */
export async function renewInvitation(tx: Tx, key: MembershipKey, invitedBy: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable(tableOf(key))
    .set({ invitedBy, updatedAt: now })
    .where("id", "=", key.membershipId)
    .where("acceptedAt", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Ends a membership; false when it is gone already. */
export async function removeMembership(tx: Tx, key: MembershipKey): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom(tableOf(key)).where("id", "=", key.membershipId).executeTakeFirst();
  return numDeletedRows === 1n;
}

/** A session of the membership was used just now. */
export async function noteActivity(tx: Tx, key: MembershipKey, now: string): Promise<void> {
  await tx.updateTable(tableOf(key)).set({ lastActiveAt: now }).where("id", "=", key.membershipId).execute();
}

/** The next sign-in takes this membership while it can be used. */
export async function selectMembership(tx: Tx, userId: string, membershipId: string): Promise<void> {
  await tx.updateTable("users").set({ selectedMembershipId: membershipId }).where("id", "=", userId).execute();
}
