import { candidatesOf, type Membership, usable } from "#server/access/membership-candidates";
import type { Tx } from "#server/db/unit-of-work";
import { acceptMembership } from "#server/features/people/core/change-membership";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { findMembership, inviterStands } from "./invitation.ts";
import { useUserToken } from "./user-tokens.ts";

interface Redeemed {
  tokenId: string;
  membershipId: string;
  userId: string;
}

/**
 * Uses an invitation's token up and accepts its membership, once; answers what the person signs in to. The person must
 * be active. A tenant that is closed, or that enforces single sign-on, opens to no password.
 */
export async function redeemInvitation(
  call: Pick<Call, "clock">,
  tx: Tx,
  { tokenId, membershipId, userId }: Redeemed,
): Promise<Membership> {
  const now = call.clock.now();
  const invited = await findMembership(tx, membershipId);
  if (invited?.userId !== userId || !(await inviterStands(tx, invited))) throw problem("INVALID_INVITE");
  const used = await useUserToken(tx, tokenId, now);
  if (!used || !(await acceptMembership(tx, invited, now))) throw problem("INVALID_INVITE");
  const accepted = (await candidatesOf(tx, userId)).find(({ membership }) => membership.id === membershipId);
  if (!accepted || !usable(accepted)) throw problem("INVALID_INVITE");
  // The first sign-in through the identity provider accepts the invitation instead.
  if (accepted.ssoEnforced) throw problem("SSO_REQUIRED");
  return accepted.membership;
}
