import { users } from "#contract/resources/people/users";
import { implement } from "#server/http/implement";
import { acceptInvite } from "./accept-invite.ts";
import { listAssignableRoles } from "./assignable-roles.ts";
import { inviteUser } from "./invite.ts";
import { getUser, listUsers } from "./list.ts";
import { getMe } from "./me.ts";
import { previewInvite } from "./preview-invite.ts";
import { resendInvite } from "./resend-invite.ts";
import { updateMe } from "./update-me.ts";

export const routes = implement(users, {
  me: (call) => getMe(call),
  updateMe,
  list: listUsers,
  roles: listAssignableRoles,
  get: getUser,
  invite: inviteUser,
  resendInvite,
  previewInvite,
  acceptInvite,
});
