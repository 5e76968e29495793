import type { Endpoint } from "#contract/core/endpoint";
import type { memberships } from "#contract/resources/people/memberships";
import { acceptMembership } from "#server/features/people/core/change-membership";
import { chainOf, findMembership, inviterStands } from "#server/features/sign-in/core/invitation";
import { endInvitation } from "#server/features/sign-in/core/user-tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { viewAll } from "./list.ts";
import { ownMemberships } from "./own.ts";

type AcceptCall = typeof memberships.accept extends Endpoint<infer T> ? Call<T> : never;

/**
 * Takes up an invitation; one that was taken up already is answered as it is. Whoever cannot speak for the address is
 * refused before anything is looked up.
 */
export async function acceptOwn(call: AcceptCall) {
  const who = user(call);
  call.audit.note({ resource: { type: "user", id: who.userId, name: who.name } });
  return call.transaction(() =>
    call.asSystem("own memberships", async (tx) => {
      const now = call.clock.now();
      const { rows, mayAccept } = await ownMemberships(tx, who, now);
      if (!mayAccept) throw problem("HOME_SESSION_REQUIRED");
      const found = rows.find(({ membershipId }) => membershipId === call.params.id);
      if (!found) throw problem("NOT_FOUND");
      call.audit.note({ owner: chainOf(found), details: { method: "session", sessionId: who.sessionId } });
      if (found.acceptedAt === null) {
        if (!(await inviterStands(tx, found))) throw problem("INVALID_INVITE");
        if (!(await acceptMembership(tx, found, now))) throw problem("NOT_FOUND");
        await endInvitation(tx, who.userId, found.membershipId);
      } else call.audit.skip();
      const accepted = await findMembership(tx, found.membershipId);
      if (!accepted) throw problem("NOT_FOUND");
      const [view] = await viewAll(call, tx, [accepted]);
      if (!view) throw problem("NOT_FOUND");
      return view;
    }),
  );
}
