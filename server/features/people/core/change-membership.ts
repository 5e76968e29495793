import type { Tx } from "#server/db/unit-of-work";

/** One membership, accepted or not. */
export interface MembershipKey {
  readonly kind: "partner" | "organization";
  readonly membershipId: string;
}

interface Changed {
  acceptedAt?: string;
  invitedBy?: string;
  lastActiveAt?: string;
  updatedAt?: string;
}

/** The person takes up what they were invited to; false when they have already, or it is gone. */
export const acceptMembership = (tx: Tx, key: MembershipKey, now: string): Promise<boolean> =>
  changeInvited(tx, key, { acceptedAt: now, updatedAt: now });

/** Whoever invites last stands for the invitation; false when it was accepted meanwhile, or is gone. */
export const renewInvitation = (tx: Tx, key: MembershipKey, invitedBy: string, now: string): Promise<boolean> =>
  changeInvited(tx, key, { invitedBy, updatedAt: now });

async function changeInvited(tx: Tx, { kind, membershipId }: MembershipKey, change: Changed): Promise<boolean> {
  const query =
    kind === "partner"
      ? tx.updateTable("partnerUsers").set(change).where("id", "=", membershipId).where("acceptedAt", "is", null)
      : tx.updateTable("organizationUsers").set(change).where("id", "=", membershipId).where("acceptedAt", "is", null);
  return (await query.executeTakeFirst()).numUpdatedRows === 1n;
}

/** Ends a membership; false when it is gone already. */
export async function removeMembership(tx: Tx, { kind, membershipId }: MembershipKey): Promise<boolean> {
  const query =
    kind === "partner"
      ? tx.deleteFrom("partnerUsers").where("id", "=", membershipId)
      : tx.deleteFrom("organizationUsers").where("id", "=", membershipId);
  return (await query.executeTakeFirst()).numDeletedRows === 1n;
}

/** A session of the membership was used just now. */
export async function noteActivity(tx: Tx, { kind, membershipId }: MembershipKey, now: string): Promise<void> {
  const change: Changed = { lastActiveAt: now };
  const query =
    kind === "partner"
      ? tx.updateTable("partnerUsers").set(change).where("id", "=", membershipId)
      : tx.updateTable("organizationUsers").set(change).where("id", "=", membershipId);
  await query.execute();
}

/** The next sign-in takes this membership while it can be used. */
export async function selectMembership(tx: Tx, userId: string, membershipId: string): Promise<void> {
  await tx.updateTable("users").set({ selectedMembershipId: membershipId }).where("id", "=", userId).execute();
}
