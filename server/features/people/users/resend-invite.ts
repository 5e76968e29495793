import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { outsideSites, refuseReadOnly } from "#server/access/org-access";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { refuseRoleAboveCaller } from "#server/features/people/core/assignable-role";
import { type MembershipKey, renewInvitation } from "#server/features/people/core/change-membership";
import { targetOf, targetOwner } from "#server/features/people/core/target";
import { findMembership } from "#server/features/sign-in/core/invitation";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { wasEverActive } from "./ever-active.ts";
import { sendInvitation } from "./invitation.ts";
import { findMember } from "./queries.ts";

type ResendCall = typeof users.resendInvite extends Endpoint<infer T> ? Call<T> : never;

/** Sends a new invitation to a member who has not accepted yet; the old one stops. */
export async function resendInvite(call: ResendCall) {
  return call.transaction(async (tx) => {
    const target = await targetOf(call, call.body, tx);
    call.audit.note({ owner: targetOwner(target) });
    const member = await findMember(tx, target, call.body.userId);
    call.audit.note({ resource: { type: "user", id: member.id, name: member.name }, details: { email: member.email } });
    if (target.kind === "organization") refuseReadOnly(target);
    if (!member.pending) throw problem("NOT_INVITED");
    if ("siteIds" in member) refuseWiderSites(call, member.siteIds);
    if (member.roleId !== null) {
      const { roleId } = member;
      await call.asSystem("invite user", (all) => refuseRoleAboveCaller(call, all, roleId));
    }
    const key = { kind: target.kind, membershipId: member.id };
    const person = await call.asSystem("invite user", (all) => renewed(call, all, key));
    const invited = { ...person, name: member.name, email: member.email };
    const sent = await sendInvitation(call, tx, invited, { target, membershipId: member.id });
    return { success: true as const, ...sent };
  });
}

/** Whoever sends an invitation stands for it, and gives no more sites than their own. */
function refuseWiderSites(call: ResendCall, siteIds: readonly string[] | null): void {
  const given = siteIds?.length ? siteIds : [null];
  if (given.some((siteId) => outsideSites(call, siteId))) throw problem("SITE_ACCESS_DENIED");
}

/** Who is invited, once their invitation is known to be the caller's. */
async function renewed(call: ResendCall, all: Tx, key: MembershipKey) {
  if (!(await renewInvitation(all, key, user(call).userId, call.clock.now()))) throw problem("NOT_INVITED");
  return invitedPerson(all, key.membershipId);
}

/** Who is invited, and whether they have signed in before: never shown. */
async function invitedPerson(db: Reader, membershipId: string): Promise<{ id: string; wasActive: boolean }> {
  const invited = await findMembership(db, membershipId);
  if (!invited) throw problem("NOT_FOUND");
  return { id: invited.userId, wasActive: await wasEverActive(db, invited.userId) };
}
