import type { UserPrincipal } from "#server/access/principal";
import type { Reader } from "#server/db/unit-of-work";
import { isHomeSession, isOfDomain } from "#server/features/sign-in/core/home-session";
import { findMemberships, type KnownMembership } from "#server/features/sign-in/core/invitation";

/** What a session may see and do with its person's memberships (docs/people.md, "Own memberships"). */
export interface OwnMemberships {
  readonly rows: readonly KnownMembership[];
  /** May take up an invitation of another tenant: the address is proven, and who began the session speaks for it. */
  readonly mayAccept: boolean;
}

/**
 * The person's memberships as far as this session reaches: all in a home session, its own tenant's otherwise. Where the
 * address is not proven, invitations to it may be meant for someone else and are not shown. Needs an unscoped handle.
 */
export async function ownMemberships(db: Reader, who: UserPrincipal, now: string): Promise<OwnMemberships> {
  const all = await findMemberships(db, { userId: who.userId });
  const mayAccept = await speaksForAddress(db, who, now);
  const isHome = await isHomeSession(db, who, now);
  const isOwnTenant = (row: KnownMembership) => row.membershipId === who.membershipId;
  const reached = all.filter((row) => (row.acceptedAt === null ? mayAccept : isHome || isOwnTenant(row)));
  return { rows: reached, mayAccept };
}

/** A password of a person whose address a mailed token has proven, or the provider of the domain's owner. */
async function speaksForAddress(db: Reader, who: UserPrincipal, now: string): Promise<boolean> {
  if (who.ssoProviderId !== null) return (await isHomeSession(db, who, now)) && isOfDomain(db, who, now);
  const person = await db.selectFrom("users").select("emailVerifiedAt").where("id", "=", who.userId).executeTakeFirst();
  return person?.emailVerifiedAt != null;
}
