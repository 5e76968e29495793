import type { UserPrincipal } from "#server/access/principal";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { findMemberships } from "./invitation.ts";
import { ownerOfDomain } from "./proven-domain.ts";

type Caller = Pick<Call, "who" | "clock" | "readAsSystem">;

/**
 * Whether the session may read and change what belongs to the person (docs/sign-in.md, "Home sessions"): an identity
 * provider speaks for its own tenant alone. Needs an unscoped handle.
 */
export async function isHomeSession(db: Reader, who: UserPrincipal, now: string): Promise<boolean> {
  if (who.ssoProviderId === null) return true;
  const person = await db.selectFrom("users").select("isPlatformAdmin").where("id", "=", who.userId).executeTakeFirst();
  if (!person || person.isPlatformAdmin) return false;
  const [only, ...others] = await acceptedBy(db, who.userId);
  if (only && others.length === 0) return only.membershipId === who.membershipId;
  return isOfDomain(db, who, now);
}

/** The session began through the provider of the organization that has proven the domain of the person's address. */
export const isOfDomain = async (db: Reader, who: UserPrincipal, now: string): Promise<boolean> =>
  who.orgId !== null && (await ownerOfDomain(db, who.email, now)) === who.orgId;

/**
 * The tenant whose provider's sessions are home: the only one that the person belongs to; of several the organization
 * whose proven domain the address has. Needs an unscoped handle.
 */
export async function homeMembershipId(db: Reader, person: { id: string; email: string }, now: string) {
  const accepted = await acceptedBy(db, person.id);
  if (accepted.length === 1) return accepted[0]?.membershipId;
  const owner = await ownerOfDomain(db, person.email, now);
  return accepted.find(({ orgId }) => orgId !== null && orgId === owner)?.membershipId;
}

/** Memberships of tenants that are not deleted. */
const acceptedBy = async (db: Reader, userId: string) =>
  (await findMemberships(db, { userId })).filter(({ acceptedAt }) => acceptedAt !== null);

/** 403 `HOME_SESSION_REQUIRED` in a session that another tenant's identity provider began. */
export async function requireHomeSession(call: Caller): Promise<void> {
  const who = user(call);
  const isHome = await call.readAsSystem("sign-in", (db) => isHomeSession(db, who, call.clock.now()));
  if (!isHome) throw problem("HOME_SESSION_REQUIRED");
}
