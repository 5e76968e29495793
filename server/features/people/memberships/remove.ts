import type { Endpoint } from "#contract/core/endpoint";
import type { memberships } from "#contract/resources/people/memberships";
import { removeMembership } from "#server/features/people/core/change-membership";
import { closeAccount } from "#server/features/people/core/close-account";
import { refuseLastAdmin } from "#server/features/people/core/refuse-last-admin";
import { chainOf } from "#server/features/sign-in/core/invitation";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { ownMemberships } from "./own.ts";

type RemoveCall = typeof memberships.remove extends Endpoint<infer T> ? Call<T> : never;

interface Invited {
  readonly membershipId: string;
  readonly invitedName: string | null;
  readonly invitedEmail: string | null;
}

/** Until an invitation is accepted, the tenant knows what it wrote itself, and no more. */
const asInvited = ({ membershipId: id, invitedName: name, invitedEmail: email }: Invited) => ({
  actor: { type: "user" as const, id, email },
  resource: { type: "user" as const, id, name },
});

/** Leaves a tenant, which ends the sessions that began there, or declines its invitation. */
export async function leave(call: RemoveCall) {
  const who = user(call);
  call.audit.note({ resource: { type: "user", id: who.userId, name: who.name } });
  return call.transaction(() =>
    call.asSystem("own memberships", async (tx) => {
      const { rows } = await ownMemberships(tx, who, call.clock.now());
      const found = rows.find(({ membershipId }) => membershipId === call.params.id);
      if (!found) throw problem("NOT_FOUND");
      const declined = found.acceptedAt === null;
      call.audit.note({ owner: chainOf(found), details: { declined }, ...(declined ? asInvited(found) : {}) });
      if (found.kind === "partner" && !declined) await refuseLastAdmin(call, tx, found);
      if (!(await removeMembership(tx, found))) throw problem("NOT_FOUND");
      const { userId, membershipId, partnerId, orgId } = found;
      const now = call.clock.now();
      const accountClosed = !declined && (await closeAccount(tx, userId, now));
      await call.services.hooks.onUserRemoved({ tx, now, userId, membershipId, partnerId, orgId, accountClosed });
      const person = declined
        ? { userId: membershipId, userName: found.invitedName ?? "" }
        : { userId, userName: who.name };
      call.emit("user.removed", { ...chainOf(found), data: { ...person, declined } });
      return { success: true as const };
    }),
  );
}
