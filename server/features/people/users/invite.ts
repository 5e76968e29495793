import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { candidatesOf } from "#server/access/membership-candidates";
import { refuseReadOnly } from "#server/access/org-access";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { addMembership } from "#server/features/people/core/add-membership";
import { getAssignableRole, refuseRoleAboveCaller } from "#server/features/people/core/assignable-role";
import { createAccount } from "#server/features/people/core/create-account";
import { reinviteAccount } from "#server/features/people/core/reinvite-account";
import { type Target, targetOf, targetOwner } from "#server/features/people/core/target";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { checkAccess } from "./check-access.ts";
import { wasEverActive } from "./ever-active.ts";
import { sendInvitation } from "./invitation.ts";
import { findMembershipId } from "./queries.ts";
import { refuseMisplacedAccess } from "./rules.ts";

type InviteCall = typeof users.invite extends Endpoint<infer T> ? Call<T> : never;

interface Person {
  id: string;
  /** Signed in before: who holds the link must not take the account over. */
  wasActive: boolean;
}

/**
 * Invites a person to the target (docs/people.md, "Inviting"). Whoever they are here already, the membership waits until
 * they accept it, and the answer is the same: it shows what the inviter wrote, under the id of the invitation.
 */
export async function inviteUser(call: InviteCall) {
  const { roleId, email, name } = call.body;
  return call.transaction(async (tx) => {
    const target = await targetOf(call, call.body, tx);
    call.audit.note({ owner: targetOwner(target), details: { email } });
    if (target.kind === "organization") refuseReadOnly(target);
    refuseMisplacedAccess(target.kind, call.body);
    const role = await getAssignableRole(tx, target, roleId);
    await call.asSystem("invite user", (all) => refuseRoleAboveCaller(call, all, role.id));
    const access = await checkAccess(call, tx, target, call.body);
    const person = await call.asSystem("invite user", (all) => findOrMakePerson(call, all, target));
    const invitation = { by: user(call).userId, name, email };
    const member = { userId: person.id, roleId, access, invitation };
    const membershipId = await call.asSystem("invite user", (all) => addMembership(call, all, target, member));
    const sent = await sendInvitation(call, tx, { ...person, name, email }, { target, membershipId });
    // A person is of no site, wherever they may go: who is invited is not told to whoever shares their sites.
    const given = "siteIds" in access ? { memberSiteIds: access.siteIds } : access;
    call.audit.note({
      resource: { type: "user", id: membershipId, name },
      details: { roleId, roleName: role.name, status: "invited", ...given, ...targetOwner(target) },
    });
    call.emit("user.invited", { ...targetOwner(target), data: { userId: membershipId, userName: name } });
    return { id: membershipId, email, name, status: "invited" as const, roleId, ...sent };
  });
}

/** One at a time per address: two tenants may invite the same person at the same moment. */
async function findOrMakePerson(call: InviteCall, tx: Tx, target: Target): Promise<Person> {
  const { email, name } = call.body;
  await lockText(tx, call.services.store.dialect, `user-email:${email}`);
  const known = await tx
    .selectFrom("users")
    .select(["id", "status", "isPlatformAdmin"])
    .where("email", "=", email)
    .executeTakeFirst();
  if (!known) {
    const account = await createAccount(call, tx, { email, name, status: "invited", emailVerifiedAt: null });
    return { id: account.id, wasActive: false };
  }
  if ((await findMembershipId(tx, target, known.id)) !== undefined)
    throw problem("USER_EXISTS", { message: `${email} is a member already`, details: { email } });
  const belongs = known.isPlatformAdmin || (await candidatesOf(tx, known.id)).length > 0;
  // Whom nobody has as a member starts anew; a person whom another tenant disabled stays so.
  if (known.status === "disabled" && !belongs) await reinviteAccount(tx, known.id, call.clock.now());
  return { id: known.id, wasActive: known.status === "disabled" || (await wasEverActive(tx, known.id)) };
}
