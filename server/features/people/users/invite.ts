import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { refuseReadOnly } from "#server/access/org-access";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { addMembership } from "#server/features/people/core/add-membership";
import { getAssignableRole, refuseRoleAboveCaller } from "#server/features/people/core/assignable-role";
import { createAccount } from "#server/features/people/core/create-account";
import { reinviteAccount } from "#server/features/people/core/reinvite-account";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { checkAccess } from "./check-access.ts";
import { type SentInvitation, sendInvitation } from "./invitation.ts";
import { findMembershipId } from "./queries.ts";
import { decideInvite, refuseMisplacedAccess } from "./rules.ts";
import { type Target, targetOf, targetOwner } from "./target.ts";

type InviteCall = typeof users.invite extends Endpoint<infer T> ? Call<T> : never;

interface Person {
  id: string;
  email: string;
  name: string;
  status: "invited" | "active" | "disabled";
  /** Has to accept before it can sign in. */
  needsToken: boolean;
}

/**
 * Makes a person a member of the target (docs/people.md, "Inviting"). A person who is active elsewhere is a member at
 * once; anyone else gets an invitation by mail.
 */
export async function inviteUser(call: InviteCall) {
  const { roleId, email } = call.body;
  return call.transaction(async (tx) => {
    const target = await targetOf(call, call.body, tx);
    call.audit.note({ owner: targetOwner(target), details: { email } });
    if (target.kind === "organization") refuseReadOnly(target);
    refuseMisplacedAccess(target.kind, call.body);
    const role = await getAssignableRole(tx, target, roleId);
    await call.asSystem("invite user", (all) => refuseRoleAboveCaller(call, all, role.id));
    const access = await checkAccess(call, tx, target, call.body);
    const person = await call.asSystem("invite user", (all) => findOrMakePerson(call, all, target));
    const membershipId = await addMembership(call, tx, target, { userId: person.id, roleId, access });
    const sent: SentInvitation = person.needsToken
      ? await sendInvitation(call, tx, person, { target, membershipId })
      : { inviteEmailSent: false, inviteUrl: null };
    call.audit.note({
      resource: { type: "user", id: person.id, name: person.name },
      details: { roleId, roleName: role.name, status: person.status, ...access, ...targetOwner(target) },
    });
    return { id: person.id, email, name: person.name, status: person.status, roleId, ...sent };
  });
}

/** One at a time per address: two tenants may invite the same person at the same moment. */
async function findOrMakePerson(call: InviteCall, tx: Tx, target: Target): Promise<Person> {
  const { email, name } = call.body;
  await lockText(tx, call.services.store.dialect, `user-email:${email}`);
  const known = await tx
    .selectFrom("users")
    .select(["id", "email", "name", "status", "isPlatformAdmin"])
    .where("email", "=", email)
    .executeTakeFirst();
  const decision = decideInvite(
    known && {
      status: known.status,
      isMember: (await findMembershipId(tx, target, known.id)) !== undefined,
      memberships: await countMemberships(tx, known.id),
    },
  );
  if (decision === "member") throw problem("USER_EXISTS");
  if (decision === "create" || !known) return createPerson(call, tx, { email, name });
  if (decision === "revive") {
    await reinviteAccount(tx, known.id, name, call.clock.now());
    return { id: known.id, email, name, status: "invited", needsToken: true };
  }
  return { ...known, needsToken: decision === "invite" };
}

async function createPerson(call: InviteCall, tx: Tx, person: { email: string; name: string }): Promise<Person> {
  const account = await createAccount(call, tx, { ...person, status: "invited" as const, emailVerifiedAt: null });
  return { ...account, needsToken: true };
}

/** A platform administrator belongs to the installation, which counts like a membership. */
async function countMemberships(tx: Tx, userId: string): Promise<number> {
  const asPartner = await tx.selectFrom("partnerUsers").select("id").where("userId", "=", userId).execute();
  const asOrg = await tx.selectFrom("organizationUsers").select("id").where("userId", "=", userId).execute();
  const admin = await tx.selectFrom("users").select("isPlatformAdmin").where("id", "=", userId).executeTakeFirst();
  return asPartner.length + asOrg.length + (admin?.isPlatformAdmin ? 1 : 0);
}
