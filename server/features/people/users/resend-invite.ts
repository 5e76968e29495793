import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { refuseReadOnly } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { sendInvitation } from "./invitation.ts";
import { findMembershipId, getMember } from "./queries.ts";
import { targetOf, targetOwner } from "./target.ts";

type ResendCall = typeof users.resendInvite extends Endpoint<infer T> ? Call<T> : never;

/** Sends a new invitation to a member who has not accepted yet; the old one stops. */
export async function resendInvite(call: ResendCall) {
  return call.transaction(async (tx) => {
    const target = await targetOf(call, call.body, tx);
    call.audit.note({ owner: targetOwner(target) });
    const member = await getMember(tx, target, call.body.userId);
    call.audit.note({ resource: { type: "user", id: member.id, name: member.name }, details: { email: member.email } });
    if (target.kind === "organization") refuseReadOnly(target);
    if (member.status !== "invited") throw problem("NOT_INVITED");
    const membershipId = await findMembershipId(tx, target, member.id);
    if (membershipId === undefined) throw problem("NOT_FOUND");
    const sent = await sendInvitation(call, tx, member, { target, membershipId });
    return { success: true as const, ...sent };
  });
}
