import { users } from "#contract/resources/people/users";
import { implement, judgingSecret } from "#server/http/implement";
import { acceptInvite } from "./accept-invite.ts";
import { listAssignableRoles } from "./assignable-roles.ts";
import { inviteUser } from "./invite.ts";
import { getUser, listUsers } from "./list.ts";
import { getMe } from "./me.ts";
import { previewInvite } from "./preview-invite.ts";
import { resendInvite } from "./resend-invite.ts";
import { invitationState } from "./secret-state.ts";
import { updateMe } from "./update-me.ts";

export const routes = implement(users, {
  me: (call) => getMe(call),
  updateMe,
  list: listUsers,
  roles: listAssignableRoles,
  get: getUser,
  invite: judgingSecret(inviteUser, (call, { id, inviteUrl }) => invitationState(call, inviteUrl, id)),
  resendInvite: judgingSecret(resendInvite, (call, { inviteUrl }) =>
    invitationState(call, inviteUrl, call.body.userId),
  ),
  previewInvite,
  acceptInvite,
});
