import type { Reader } from "#server/db/unit-of-work";
import { findMembership, inviterStands, type KnownMembership } from "#server/features/sign-in/core/invitation";
import { findUserToken, isLive, type UserToken } from "#server/features/sign-in/core/user-tokens";

export interface OpenInvitation {
  token: UserToken;
  invited: KnownMembership;
  /** Neither used nor expired, and whoever invited could still do it. */
  stands: boolean;
  /** The token was used, or the person accepted signed in. */
  accepted: boolean;
}

/**
 * The invitation behind a token: undefined when there never was one, its membership was removed meanwhile, or its tenant
 * is deleted. Needs an unscoped handle.
 */
export async function findInvitation(db: Reader, plaintext: string, now: string): Promise<OpenInvitation | undefined> {
  const token = await findUserToken(db, "invite", plaintext);
  const invited = token && (await findMembership(db, token.data["membershipId"] as string));
  if (!token || invited?.userId !== token.userId) return undefined;
  const accepted = token.usedAt !== null || invited.acceptedAt !== null;
  return { token, invited, accepted, stands: !accepted && isLive(token, now) && (await inviterStands(db, invited)) };
}
