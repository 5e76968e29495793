import type { UserEvent } from "#server/room-hooks";

/** Whoever loses a membership loses what it showed them, except for what another of their memberships still shows. */
export async function dropUnreached({ tx, userId, partnerId, orgId }: UserEvent): Promise<void> {
  const staff = tx
    .selectFrom("partnerUsers")
    .select("partnerUsers.partnerId")
    .where("partnerUsers.userId", "=", userId)
    .where("partnerUsers.acceptedAt", "is not", null);
  const member = tx
    .selectFrom("organizationUsers")
    .select("organizationUsers.orgId")
    .where("organizationUsers.userId", "=", userId)
    .where("organizationUsers.acceptedAt", "is not", null);
  await tx
    .deleteFrom("notifications")
    .where("userId", "=", userId)
    .where("partnerId", "=", partnerId)
    .$if(orgId !== null, (query) => query.where("orgId", "=", orgId))
    .where((eb) => eb.not(eb("partnerId", "in", staff)))
    .where((eb) => eb.or([eb("orgId", "is", null), eb.not(eb("orgId", "in", member))]))
    .execute();
}
