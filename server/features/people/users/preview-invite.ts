import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { findInvitation } from "./find-invitation.ts";

type PreviewCall = typeof users.previewInvite extends Endpoint<infer T> ? Call<T> : never;

/** Whom an invitation is for and to what, as the inviter wrote it, for the page that accepts it. */
export async function previewInvite(call: PreviewCall) {
  const { found, disabled } = await call.readAsSystem("accept invitation", async (db) => {
    const invitation = await findInvitation(db, call.body.token, call.clock.now());
    const userId = invitation?.invited.userId ?? "";
    const user =
      invitation && (await db.selectFrom("users").select("status").where("id", "=", userId).executeTakeFirst());
    return { found: invitation, disabled: user?.status === "disabled" };
  });
  if (!found) throw problem("INVALID_INVITE");
  if (found.accepted) throw problem("INVITE_ALREADY_ACCEPTED");
  if (!found.stands || disabled) throw problem("INVALID_INVITE");
  const { invitedEmail, invitedName, partnerName, orgName } = found.invited;
  return {
    email: invitedEmail ?? "",
    name: invitedName ?? "",
    partnerName,
    ...(orgName === null ? {} : { orgName }),
  };
}
