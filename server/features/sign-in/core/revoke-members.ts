import type { Tx } from "#server/db/unit-of-work";

/** An organization, or a partner with all of its organizations. */
export type Closed = { readonly orgId: string } | { readonly partnerId: string };

/**
 * Ends the sessions that began in what is closed, whoever's they are. Sessions of the same people in other tenants go
 * on: a session never moves, so that closing a tenant signs nobody out elsewhere. Needs an unscoped handle.
 */
export async function revokeMembers(tx: Tx, closed: Closed, reason: string, now: string): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("revokedAt", "is", null)
    .where((eb) => {
      if ("orgId" in closed) return eb("memberOrgId", "=", closed.orgId);
      const organizations = eb
        .selectFrom("organizations")
        .select("organizations.id")
        .where("organizations.partnerId", "=", closed.partnerId);
      return eb.or([eb("memberPartnerId", "=", closed.partnerId), eb("memberOrgId", "in", organizations)]);
    })
    .execute();
}
