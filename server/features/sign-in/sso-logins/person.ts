import type { Reader, Tx } from "#server/db/unit-of-work";
import { activateAccount } from "#server/features/people/core/activate-account";
import { acceptMembership } from "#server/features/people/core/change-membership";
import { findUserByEmail, findUserById, type SignInUser } from "#server/features/people/core/find-user";
import { findMemberships, inviterStands, type KnownMembership } from "#server/features/sign-in/core/invitation";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { endInvitation, endUserTokens } from "#server/features/sign-in/core/user-tokens";
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

const isVerifiedDomain = async (db: Reader, orgId: string, domain: string): Promise<boolean> =>
  (await db
    .selectFrom("ssoDomains")
    .select("id")
    .where("orgId", "=", orgId)
    .where("domain", "=", domain)
    .where("verifiedAt", "is not", null)
    .executeTakeFirst()) !== undefined;

/**
 * The first sign-in through the inviting tenant's own provider accepts that tenant's invitation of a person who belongs
 * nowhere else yet, and proves nothing. Who belongs to another tenant accepts by its mail or signed in: a provider that
 * any tenant chooses must not make them a member.
 */
export async function acceptThroughProvider(
  call: Call,
  tx: Tx,
  provider: ProviderRow,
  user: SignInUser,
): Promise<void> {
  const all = await findMemberships(tx, { userId: user.id });
  const invited = all.find((one) => isOfTenant(one, provider) && one.acceptedAt === null);
  if (!invited || user.status === "disabled") return;
  const belongs = user.isPlatformAdmin || all.some(({ acceptedAt }) => acceptedAt !== null);
  if (belongs) throw rejection("invite_required", "account", "member_elsewhere");
  if (!(await inviterStands(tx, invited))) throw rejection("invite_required", "account", "inviter_gone");
  const now = call.clock.now();
  if (!(await acceptMembership(tx, invited, now))) return;
  await endInvitation(tx, user.id, invited.membershipId);
  if (user.status !== "invited") return;
  await activateAccount(tx, user.id, { now, name: invited.invitedName ?? undefined, provesAddress: false });
  await endUserTokens(tx, user.id, ["password_reset"]);
}

/** Asked of members alone: what became of an account elsewhere is nothing that this tenant may learn. */
export function refuseDisabled(user: SignInUser): void {
  if (user.status === "disabled") throw rejection("user_not_found", "account", "user_disabled");
}

const isOfTenant = (one: Pick<KnownMembership, "orgId" | "partnerId">, provider: ProviderRow): boolean =>
  one.orgId === null ? provider.partnerId === one.partnerId : provider.orgId === one.orgId;
