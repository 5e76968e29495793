import { findMembership } from "#server/features/sign-in/core/invitation";
import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";
import { findInvitation } from "./find-invitation.ts";
import { tokenOfLink } from "./invitation.ts";

/** What became of the link that an answer from memory shows: one that was accepted or sent again is of no use. */
export async function invitationState(
  call: Call,
  inviteUrl: string | null,
  membershipId: string,
): Promise<SecretState> {
  if (inviteUrl === null) return "current";
  return call.readAsSystem("invite user", async (db) => {
    const open = await findInvitation(db, tokenOfLink(inviteUrl), call.clock.now());
    if (open?.stands) return "current";
    return (await findMembership(db, membershipId)) ? "stale" : "gone";
  });
}
