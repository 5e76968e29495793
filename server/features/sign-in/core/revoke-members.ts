import type { ExpressionBuilder } from "kysely";
import type { Database } from "#server/db/tables";
import type { Tx } from "#server/db/unit-of-work";

/** An organization, or a partner with all of its organizations. */
export type Closed = { readonly orgId: string } | { readonly partnerId: string };

type Users = ExpressionBuilder<Database, "users">;

/**
 * Ends the sessions of people who belong only to what is closed. People who also belong elsewhere keep them: any tenant
 * can make a known person its member, and must not be able to sign that person out of all others by closing an
 * organization. What a kept session may do is checked against its membership on every request. Needs an unscoped
 * handle.
 */
export async function revokeMembers(tx: Tx, closed: Closed, reason: string, now: string): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("revokedAt", "is", null)
    .where("userId", "in", membersOfNothingElse(tx, closed))
    .execute();
}

function membersOfNothingElse(tx: Tx, closed: Closed) {
  return (
    tx
      .selectFrom("users")
      .select("users.id")
      // A platform administrator's sessions are of system scope, whatever else the person belongs to.
      .where("users.isPlatformAdmin", "=", false)
      .where((eb) => eb.or([eb.exists(asMember(eb, closed, true)), eb.exists(asStaff(eb, closed, true))]))
      .where((eb) => eb.not(eb.or([eb.exists(asMember(eb, closed, false)), eb.exists(asStaff(eb, closed, false))])))
  );
}

/** The user's memberships of organizations that are closed, or of others. */
const asMember = (users: Users, closed: Closed, inside: boolean) =>
  users
    .selectFrom("organizationUsers")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .select("organizationUsers.id")
    .whereRef("organizationUsers.userId", "=", "users.id")
    .where((eb) => {
      const here =
        "orgId" in closed
          ? eb("organizations.id", "=", closed.orgId)
          : eb("organizations.partnerId", "=", closed.partnerId);
      return inside ? here : eb.not(here);
    });

/** The user's memberships of the partner that is closed, or of others. */
const asStaff = (users: Users, closed: Closed, inside: boolean) =>
  users
    .selectFrom("partnerUsers")
    .select("partnerUsers.id")
    .whereRef("partnerUsers.userId", "=", "users.id")
    .where((eb) => {
      const here = "orgId" in closed ? eb.lit(false) : eb("partnerUsers.partnerId", "=", closed.partnerId);
      return inside ? here : eb.not(here);
    });
