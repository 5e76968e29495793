import { candidatesOf, isOf } from "#server/access/membership-candidates";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { activateAccount } from "#server/features/people/core/activate-account";
import { findUserByEmail, findUserById, type SignInUser } from "#server/features/people/core/find-user";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { endUserTokens } from "#server/features/sign-in/core/user-tokens";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { findIdentity } from "#server/features/sign-in/sso-providers/keep-identity";
import type { Call } from "#server/http/call";
import type { Assertion } from "./assertion.ts";
import { rejection } from "./rejection.ts";

/**
 * The account of a subject: the one it is linked to, else the one with its address. Undefined if there is none; whether
 * one is created is the provider's setting. If an organization's provider does not say that an address is verified, it
 * is accepted for linked people, and for others only if the organization has proven the domain (cases C20).
 */
export async function findPerson(
  call: Call,
  tx: Tx,
  provider: ProviderRow,
  { subject, profile }: Assertion,
): Promise<SignInUser | undefined> {
  const linked = await findIdentity(tx, provider.id, subject);
  const user = linked ? await findUserById(tx, linked.userId) : await findUserByEmail(tx, profile.email);
  if (user) noteUser(call, user);
  const isProven = profile.emailVerified === true || linked !== undefined || provider.orgId === null;
  if (!isProven && !(await isVerifiedDomain(tx, provider.orgId as string, profile.domain)))
    throw rejection("sso_domain_unverified", "account");
  return user;
}

/** Asked of members alone: what became of an account elsewhere is nothing that this tenant may learn. */
export async function ensureActive(call: Call, tx: Tx, provider: ProviderRow, user: SignInUser): Promise<void> {
  if (user.status === "disabled") throw rejection("user_not_found", "account", "user_disabled");
  if (user.status === "invited") await acceptInvitation(call, tx, provider, user);
}

const isVerifiedDomain = async (db: Reader, orgId: string, domain: string): Promise<boolean> =>
  (await db
    .selectFrom("ssoDomains")
    .select("id")
    .where("orgId", "=", orgId)
    .where("domain", "=", domain)
    .where("verifiedAt", "is not", null)
    .executeTakeFirst()) !== undefined;

/**
 * Signing in accepts the invitation of the provider's own tenant. Who is invited elsewhere too accepts one by its mail
 * first: one tenant's provider must not use up another tenant's invitation.
 */
async function acceptInvitation(call: Call, tx: Tx, provider: ProviderRow, user: SignInUser): Promise<void> {
  const memberships = await candidatesOf(tx, user.id);
  if (!memberships.every(({ membership }) => isOf(membership, provider)))
    throw rejection("invite_required", "account", "invited_elsewhere");
  const now = call.clock.now();
  await activateAccount(tx, user.id, { now });
  await endUserTokens(tx, user.id, ["invite", "password_reset"]);
}
